/** Runs `gatehouse doctor` and parses its JSON. */
import { expect } from 'bun:test'
import type { runCli } from './run-cli.ts'
import { runCliInProcess } from './run-cli-in-process.ts'

interface Finding {
  readonly level: string
  readonly check: string
  readonly message: string
  readonly cure?: string
}
export interface Examined {
  readonly exitCode: number
  readonly findings: readonly Finding[]
  readonly said: string
}

export async function examine(
  environment: Readonly<Record<string, string>>,
  how: typeof runCli = runCliInProcess,
): Promise<Examined> {
  const { exitCode, stdout, stderr } = await how(['doctor', '--json'], {
    environment: { GATEHOUSE_PORT: '0', ...environment },
  })
  expect(stderr).toBe('')
  const { findings } = JSON.parse(stdout) as { findings: Finding[] }
  expect(exitCode).toBe(findings.some(({ level }) => level === 'fail') ? 1 : 0)
  for (const { level, cure, message } of findings) {
    expect(`${message}${cure ?? ''}`).not.toContain('\n')
    if (level !== 'ok') expect(cure).toBeString()
  }
  return { exitCode, findings, said: stdout }
}

export function found({ findings }: Examined, check: string, level: string): string {
  return findings
    .filter((finding) => finding.check === check && finding.level === level)
    .map(({ message, cure }) => `${message} → ${cure}`)
    .join('\n')
}
