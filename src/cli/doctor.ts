import type { Command } from 'commander'
import type { Finding } from '../core/finding.ts'
import type { CliContext } from './context.ts'
import { printJson, printLine, printPainted, toPrintable } from './output.ts'
import { asJson, example } from './program-parts.ts'
import { terminal } from './terminal.ts'

const COLOURS = { ok: '\u001b[32m', warn: '\u001b[33m', fail: '\u001b[31m' } as const
const RESET = '\u001b[0m'
const CHECK_WIDTH = 13

export function bindDoctor(program: Command, context: CliContext): void {
  program
    .command('doctor')
    .description(
      'examine server, key, providers, gates and data folder; changes nothing; exit code 1 ' +
        'when something fails',
    )
    .addHelpText(
      'after',
      example(
        'gatehouse doctor',
        'gatehouse doctor --json | jq \'.findings[] | select(.level != "ok")\'',
      ),
    )
    .action(async (_flags, command: Command) => {
      const findings = await context.examine()
      const count = (level: Finding['level']) =>
        findings.filter((finding) => finding.level === level).length
      if (asJson(command))
        printJson({ ok: count('ok'), warn: count('warn'), fail: count('fail'), findings })
      else {
        for (const finding of findings) print(finding)
        printLine(`\n${count('ok')} ok, ${count('warn')} to look at, ${count('fail')} failed`)
      }
      if (count('fail') > 0) terminal().exitCode = 1
    })
}

function print({ level, check, message, cure }: Finding): void {
  const word = level.padEnd(4)
  const label = terminal().hasColours ? `${COLOURS[level]}${word}${RESET}` : word
  printPainted(`${label}  ${check.padEnd(CHECK_WIDTH)}${toPrintable(message)}`)
  if (cure !== undefined) printLine(`${' '.repeat(CHECK_WIDTH + 6)}→ ${cure}`)
}
