/** What a supervisor says of its workers, in Prometheus' text format. Knows no process. */
import { SUPERVISOR_METRICS } from '../telemetry/metric-list.ts'

export interface WorkerState {
  readonly worker: number
  readonly isReady: boolean
  readonly restarts: number
}

export function supervisorMetrics(workers: readonly WorkerState[]): string {
  const figures: Record<keyof typeof SUPERVISOR_METRICS, (state: WorkerState) => number> = {
    gatehouse_worker_up: ({ isReady }) => (isReady ? 1 : 0),
    gatehouse_worker_restarts_total: ({ restarts }) => restarts,
  }
  return Object.entries(SUPERVISOR_METRICS)
    .flatMap(([name, { type, help }]) => [
      `# HELP ${name} ${help}.`,
      `# TYPE ${name} ${type}`,
      ...workers.map(
        (state) =>
          `${name}{worker="${state.worker}"} ` +
          `${figures[name as keyof typeof SUPERVISOR_METRICS](state)}`,
      ),
      '',
    ])
    .join('\n')
}
