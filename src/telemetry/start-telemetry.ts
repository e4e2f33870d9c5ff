/** Starts the telemetry that the operator configured, and loads nothing else. */
import type { TelemetrySettings } from '../config/telemetry-settings.ts'
import type { CallObserver, CallTrace } from '../gateway/call-observer.ts'
import type { ControlRequest } from './access-log.ts'
import { CallCounters } from './call-counters.ts'
import type { ProviderNames } from './call-tracer.ts'
import type { Log } from './log.ts'
import {
  createMetricsEndpoint,
  EventLoopLag,
  type MetricSources,
  readMetrics,
  renderMetrics,
} from './metrics.ts'
import type { TagLabels } from './tag-labels.ts'

export interface Telemetry {
  /** Undefined without an observer. */
  readonly observer: CallObserver | undefined
  /** Serves `/metrics`; undefined when metrics are off. */
  readonly metrics: ((request: Request) => Promise<Response>) | undefined
  /** This process's own metrics, whatever `metrics` serves; undefined when metrics are off. */
  readonly renderMetrics: (() => Promise<string>) | undefined
  readonly noteControlRequest: ((request: ControlRequest) => void) | undefined
  close(): Promise<void>
}

export interface TelemetryOptions {
  readonly log: Log
  readonly version: string
  readonly providerNames: ProviderNames
  readonly sources: MetricSources
  /** Undefined: no tag becomes a label. */
  readonly tagLabels?: TagLabels | undefined
  /** Undefined when this process is not a worker. */
  readonly worker?: TelemetryOfWorker | undefined
}

export interface TelemetryOfWorker {
  readonly index: number
  /** The metrics of all workers, because a scrape reaches an arbitrary worker. */
  readonly collectMetrics: () => Promise<string>
}

export async function startTelemetry(
  settings: TelemetrySettings,
  { log, version, providerNames, sources, tagLabels, worker }: TelemetryOptions,
): Promise<Telemetry> {
  const observers: CallObserver[] = []
  const metrics = settings.metrics === undefined ? undefined : startMetrics(settings.metrics.token)
  if (metrics !== undefined) observers.push(metrics.counters)
  const otlp =
    settings.otlp === undefined
      ? undefined
      : (await import('./otlp.ts')).startOtlp(settings.otlp, { log, version, providerNames })
  observers.push(...(otlp?.observers ?? []))
  const accessLog = settings.hasAccessLog
    ? new (await import('./access-log.ts')).AccessLog(1, worker?.index)
    : undefined
  if (accessLog !== undefined) observers.push(accessLog)
  return {
    observer: combineObservers(observers, (error) => log.error({ err: error }, 'telemetry failed')),
    metrics: metrics?.endpoint,
    renderMetrics: metrics?.render,
    noteControlRequest:
      accessLog === undefined ? undefined : (request) => accessLog.noteControlRequest(request),
    async close() {
      metrics?.lag.stop()
      await Promise.all([accessLog?.close(), otlp?.close()])
    },
  }

  function startMetrics(token: Parameters<typeof createMetricsEndpoint>[0]) {
    const counters = new CallCounters(tagLabels)
    const lag = new EventLoopLag()
    const readers = readMetrics({ counters, lag, sources, version })
    const render = async () => renderMetrics(readers)
    const endpoint = createMetricsEndpoint(token, worker?.collectMetrics ?? render)
    return { counters, lag, endpoint, render }
  }
}

// Combines several observers. An observer's error neither breaks a call nor stops other observers.

/**
 * @param onFault called for an observer's error, once per observer
 * @returns undefined without observers
 */
export function combineObservers(
  observers: readonly CallObserver[],
  onFault: (error: unknown) => void,
): CallObserver | undefined {
  if (observers.length === 0) return undefined
  const faulty = new Set<CallObserver>()
  const fault = (observer: CallObserver, error: unknown): void => {
    if (faulty.has(observer)) return
    faulty.add(observer)
    onFault(error)
  }
  return {
    begin(headers) {
      let trace: CallTrace | undefined
      for (const observer of observers) {
        try {
          trace = observer.begin(headers) ?? trace
        } catch (error) {
          fault(observer, error)
        }
      }
      return trace
    },
    finish(record, attempts, trace) {
      for (const observer of observers) {
        try {
          observer.finish(record, attempts, trace)
        } catch (error) {
          fault(observer, error)
        }
      }
    },
    refuse(refusal, trace) {
      for (const observer of observers) {
        try {
          observer.refuse(refusal, trace)
        } catch (error) {
          fault(observer, error)
        }
      }
    },
  }
}
