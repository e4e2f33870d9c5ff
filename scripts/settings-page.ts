/**
 * docs/generated/settings.md: every setting of the table, and the variables of each provider of the
 * catalog.
 */
import { COMMAND_LINE_SUBJECT, SERVER_SUBJECTS, type Subject } from '../src/config/setting-table.ts'
import {
  describeDefault,
  describeOtherDefault,
  describeType,
  type Setting,
} from '../src/config/setting-type.ts'
import { catalog } from '../src/providers/catalog.ts'
import { baseUrlVariableOf, keyVariableOf, type Provider } from '../src/providers/define.ts'

export const SETTINGS_PAGE = 'docs/generated/settings.md'

export function settingsPage(
  subjects: readonly Subject[] = [...SERVER_SUBJECTS, COMMAND_LINE_SUBJECT],
  providers: readonly Provider[] = catalog,
): string {
  return [
    '# Settings',
    '',
    '<!-- Made by scripts/docs.ts from src/config/setting-table.ts: do not edit, run make fmt. -->',
    '',
    'Settings are environment variables; what does not fit into them is in the [configuration file](../operations/configure.md#the-configuration-file).',
    'None has to be there, and an empty one counts as absent. A value that its type does not take stops the start, with the name of the',
    'variable. One that begins with `GATEHOUSE_` and is not here is named in a warning at start: it is most likely misspelt.',
    '',
    ...subjects.flatMap(({ title, settings }) => [
      `## ${title}`,
      '',
      '| variable | what it sets | type | default |',
      '|---|---|---|---|',
      ...Object.entries(settings).map(([name, setting]) => settingRow(name, setting)),
      '',
    ]),
    '## Providers',
    '',
    'The address has the form that the vendor’s SDK takes. `SANDBOX_BASE_URL` is also where the sandbox’s other dialects are. What single',
    'providers want besides is in [operations](../operations/configure.md#providers).',
    '',
    '| provider | key | address | default address |',
    '|---|---|---|---|',
    ...providers.map(providerRow),
    '',
  ].join('\n')
}

function settingRow(name: string, setting: Setting): string {
  const { sentence, note, type } = setting
  const meaning =
    note === undefined ? plain(sentence) : `${plain(sentence)}. ${note.replaceAll('](', '](../')}`
  return row([code(name), meaning, plain(describeType(type)), defaultCell(setting)])
}

function defaultCell(setting: Setting): string {
  const described = describeDefault(setting)
  if (described === undefined) return plain(setting.without ?? '')
  const other = describeOtherDefault(setting)
  return `${showValue(described)}${other === undefined ? '' : `; with ${code(other.setting)} ${showValue(other)}`}`
}

function showValue({ written, inWords }: { written: string; inWords: string | undefined }): string {
  return `${code(written)}${inWords === undefined ? '' : ` (${inWords})`}`
}

function providerRow(provider: Provider): string {
  const parts = Object.values(provider.composedBaseUrl?.parts ?? {}).map(
    ({ variable, fallback }) =>
      fallback === undefined ? code(variable) : `${code(variable)} (${code(fallback)})`,
  )
  const address = [...parts, code(baseUrlVariableOf(provider))]
  return row([
    provider.name,
    code(keyVariableOf(provider)),
    parts.length === 0 ? address.join('') : `${parts.join(' and ')}, or ${address.at(-1)}`,
    provider.baseUrl === undefined ? '–' : code(provider.baseUrl),
  ])
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function code(text: string): string {
  return `\`${text}\``
}

function plain(text: string): string {
  return text.replaceAll(/[*<]/g, '\\$&')
}
