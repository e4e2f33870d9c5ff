export function findByWords<Row>(
  rows: readonly Row[],
  search: string,
  textOf: (row: Row) => string,
): Row[] {
  const words = search.toLowerCase().split(/\s+/)
  return rows.filter((row) => {
    const text = textOf(row).toLowerCase()
    return words.every((word) => text.includes(word))
  })
}
