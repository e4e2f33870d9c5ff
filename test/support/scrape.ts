/** The series that a Prometheus server would read at an address. */

export type Series = ReadonlyMap<string, number>

export async function scrape(url: string, token?: string): Promise<Series> {
  const response = await fetch(url, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  })
  if (response.status !== 200) throw new Error(`the metrics answered ${response.status}`)
  return parseSeries(await response.text())
}

export function parseSeries(text: string): Series {
  const series = new Map<string, number>()
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const end = line.lastIndexOf(' ')
    const name = line.slice(0, end)
    if (series.has(name)) throw new Error(`the series ${name} is there twice`)
    series.set(name, Number(line.slice(end + 1)))
  }
  return series
}

export function seriesOf(series: Series, name: string): Record<string, number> {
  const own = [...series].filter(([key]) => key === name || key.startsWith(`${name}{`))
  return Object.fromEntries(own.map(([key, value]) => [key.slice(name.length), value]))
}
