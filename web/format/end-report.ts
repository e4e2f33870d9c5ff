import { formatWhole } from './figures.ts'

interface EndReport {
  readonly callsEnded: number
  readonly nodesNotHeard: number
}

/** @param report undefined from an earlier version of the gateway, which sends none */
export function describeEndReport(report: EndReport | null | undefined): string {
  if (report === null || report === undefined) return ''
  const { callsEnded, nodesNotHeard } = report
  const ended =
    callsEnded === 0
      ? 'No call was running.'
      : callsEnded === 1
        ? '1 running call ended.'
        : `${formatWhole(callsEnded)} running calls ended.`
  if (nodesNotHeard === 0) return ended
  const nodes = nodesNotHeard === 1 ? '1 node' : `${formatWhole(nodesNotHeard)} nodes`
  return `${ended} ${nodes} did not confirm, and may still run calls that began before.`
}
