/** The settings as `serve --help` lists them. Knows no setting by name. */
import type { Help } from 'commander'
import { describeDefault, describeOtherDefault, describeType } from '../config/describe-setting.ts'
import type { Subject } from '../config/setting-table.ts'
import type { Setting } from '../config/setting-type.ts'
import { DEFAULT_WIDTH } from './terminal.ts'

const INDENT = '      '

/** @param helper of the command whose help it stands under: it knows how wide a line may be */
export function listSettings(subjects: readonly Subject[], helper: Help): string {
  const width = (helper.helpWidth ?? DEFAULT_WIDTH) - INDENT.length
  return subjects
    .flatMap(({ title, settings }) => [
      `\n${title}:`,
      ...Object.entries(settings).map(([name, setting]) => {
        const lines = helper.boxWrap(describeSetting(setting), width).split('\n')
        return [`  ${name}`, ...lines.map((line) => INDENT + line)].join('\n')
      }),
    ])
    .join('\n')
}

function describeSetting(setting: Setting): string {
  const described = describeDefault(setting)
  const other = describeOtherDefault(setting)
  const fallback = described === undefined ? (setting.without ?? '') : showValue(described)
  const exception = other === undefined ? '' : `, with ${other.setting} ${showValue(other)}`
  const type = describeType(setting.type)
  return `${setting.sentence} (${type === 'text' ? '' : `${type}; `}default: ${fallback}${exception})`
}

function showValue({ written, inWords }: { written: string; inWords: string | undefined }): string {
  return inWords === undefined ? written : `${written} = ${inWords}`
}
