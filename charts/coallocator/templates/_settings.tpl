{{- /* Made from manifests/ by `deno task chart`; changes here are lost. */ -}}
{{- define "coallocator.settingsAmong" }}
{{- $keys := rest . }}
{{- range $section, $value := first . }}
{{- if not (kindIs "map" $value) }}
{{- if has $section $keys }}{{ $section }}={{ toJson $value }};{{ end }}
{{- else }}
{{- range $key, $one := $value }}
{{- $name := printf "%s.%s" $section $key }}
{{- if has $name $keys }}{{ $name }}={{ toJson $one }};{{ end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- define "coallocator.agentSettings" }}
{{- include "coallocator.settingsAmong" (list .Values.config "agent.busySampleInterval" "agent.cgroupRoot" "agent.cores" "agent.decreaseHysteresis" "agent.decreaseWait" "agent.heartbeat" "agent.kernelRoot" "agent.listen" "agent.raiseGap" "agent.raiseHysteresis" "agent.releaseAfter" "agent.reserve" "agent.sampleInterval" "agent.shareGap" "agent.shareHysteresis" "agent.stopGrace" "agent.stuckAfter" "agent.usageMean" "agent.waitTarget" "agent.warmUp" "log.format" "log.level" "logging.format" "logging.level" "market.idleCPU") }}
{{- end }}
{{- define "coallocator.controllerSettings" }}
{{- include "coallocator.settingsAmong" (list .Values.config "agent.heartbeat" "controller.agentSilentAfter" "controller.leaderElection" "controller.listen" "controller.maxNewAllocationsPerSecond" "controller.maxResizesPerSecond" "controller.stopGrace" "controller.workers" "dashboard.enabled" "dashboard.listen" "leaderElection" "log.format" "log.level" "logging.format" "logging.level" "market.idleCPU" "metrics.enabled" "metrics.port" "metrics.prometheusHeaders" "metrics.prometheusLogin" "metricsProvider" "placement.enabled" "placement.evictionBurst" "placement.evictionsPerSecond" "placement.workers" "reconciliationInterval" "rightsizing.customSources" "rightsizing.enabled" "rightsizing.interval" "rightsizing.provider" "rightsizing.samplerSize" "webhook.certDir" "webhook.certificateFolder" "webhook.certificates" "webhook.enabled" "webhook.listen" "webhook.port" "webhook.serviceName") }}
{{- end }}
