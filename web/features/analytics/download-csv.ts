/** Hands the table over as a file, made in the browser from what is already there. */
import { toCsv } from '../../format/csv.ts'
import { CSV_COLUMNS, type Sum } from './columns.ts'
import type { NameGroup } from './group-names.ts'

/** The group's id stands beside its name: names of keys may be the same. */
export function toTableCsv(sums: readonly Sum[], by: string, name: NameGroup): string {
  return toCsv([
    [by, `${by}_id`, ...CSV_COLUMNS.map(({ csvLabel }) => csvLabel)],
    ...sums.map((sum) => [name(sum), sum.group, ...CSV_COLUMNS.map(({ read }) => read(sum))]),
  ])
}

export function downloadText(text: string, fileName: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = address
  link.download = fileName
  link.click()
  URL.revokeObjectURL(address)
}
