/** `gatehouse master-key`: shows by id which master keys encrypt the data, and rotates the key. */
import type { Command } from 'commander'
import type { CliContext, MasterKeyRotation, MasterKeyStatus } from './context.ts'
import { formatTable, printJson, printLine, printNote } from './output.ts'
import { asJson, example } from './program-parts.ts'
import { terminal } from './terminal.ts'

export function bindMasterKey(program: Command, context: CliContext): void {
  const masterKey = program
    .command('master-key')
    .description('the key that encrypts stored credentials; on the local data folder')

  masterKey
    .command('status')
    .description('show which key encrypts which credentials; exit code 1 if some cannot be read')
    .addHelpText('after', example('gatehouse master-key status'))
    .action(async (_flags, command: Command) => {
      const status = await context.masterKey.status()
      if (asJson(command)) printJson(status)
      else printStatus(status)
      failWhenUnopened(status)
    })

  masterKey
    .command('rotate')
    .description(
      'make a new key and encrypt every credential under it, while a server keeps serving',
    )
    .addHelpText('after', example('gatehouse master-key rotate'))
    .action(async (_flags, command: Command) => {
      const rotation = await context.masterKey.rotate()
      if (asJson(command)) printJson(rotation)
      else {
        printLine(describeOutcome(rotation))
        printStatus(rotation)
      }
      failWhenUnopened(rotation)
    })
}

function describeOutcome(rotation: MasterKeyRotation): string {
  const count = `${rotation.encryptedAnew} credential${rotation.encryptedAnew === 1 ? '' : 's'}`
  switch (rotation.outcome) {
    case 'rotated':
      return `The master key was changed, and ${count} encrypted again.`
    case 'finished':
      return `${count} encrypted anew: none is under an older key now.`
    case 'nothing':
      return rotation.currentId === null
        ? 'No master key exists yet: it is created with the first credential.'
        : 'Everything is under GATEHOUSE_MASTER_KEY already. To change it, put a ' +
            'new key there and this one into GATEHOUSE_MASTER_KEY_PREVIOUS, ' +
            'restart the server, and run this again.'
  }
}

function printStatus({ source, currentId, previousIds, tables }: MasterKeyStatus): void {
  const previous = previousIds.length === 0 ? '' : `; previous: ${previousIds.join(', ')}`
  printLine(`Master key ${currentId ?? '(none yet)'} of ${source}${previous}`)
  if (tables.length === 0) return
  printLine(
    formatTable<MasterKeyStatus['tables'][number]>(
      {
        TABLE: (row) => row.table,
        CURRENT: (row) => String(row.current),
        PREVIOUS: (row) => String(row.previous),
        UNREADABLE: (row) => String(row.unopened),
      },
      tables,
    ),
  )
}

function failWhenUnopened({ tables }: MasterKeyStatus): void {
  if (tables.every((table) => table.unopened === 0)) return
  printNote('Unreadable credentials are damaged, or their master key is missing: set them again.')
  terminal().exitCode = 1
}
