/**
 * Runs each expression that it is told of on hostile texts, and says when it is through with one.
 * Started by its test, which may kill it.
 */
import { hostileTexts } from '../../scripts/regular-expression-shape.ts'

for (const line of (await Bun.stdin.text()).split('\n')) {
  const { path, source, flags, length } = JSON.parse(line) as Readonly<Record<string, string>> & {
    readonly length: number
  }
  const expression = new RegExp(source ?? '', (flags ?? '').replaceAll(/[gy]/g, ''))
  for (const text of hostileTexts(source ?? '', flags ?? '', length)) expression.test(text)
  process.stdout.write(`${JSON.stringify([path, source])}\n`)
}
