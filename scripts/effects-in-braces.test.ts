import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { STYLE_CHECK } from './checks.ts'

const HOUSE = join(import.meta.dir, '..')
const TOLD = 'as its clean-up'

const REFUSED = {
  'an effect': 'useEffect(() => place.current?.scrollIntoView(), [place])',
  'an effect without dependencies': 'useEffect(() => items.sort())',
  'a layout effect': 'useLayoutEffect(() => place.current?.scrollIntoView(), [place])',
  'an insertion effect': 'useInsertionEffect(() => document.title, [])',
  'an effect by its full name': 'React.useEffect(() => place.current?.scrollIntoView(), [place])',
  'a ref callback': 'return <div ref={(element) => element?.scrollIntoView()} />',
  'a ref callback deep in a page':
    'return <div><p ref={(element) => void items.push(element)}>x</p></div>',
}

const LEFT_ALONE = {
  'an effect in braces': 'useEffect(() => { place.current?.scrollIntoView() }, [place])',
  'functions within an effect':
    'useEffect(() => { const ids = items.map((item) => item + 1); return () => ids.sort() }, [items])',
  'a ref that is no function': 'return <div ref={place} />',
  'a ref callback in braces': 'return <div ref={(element) => { element?.scrollIntoView() }} />',
  'functions within a ref callback':
    'return <div ref={(element) => { items.forEach((item) => element?.append(item)) }} />',
  'another handler':
    'return <button type="button" onClick={() => place.current?.scrollIntoView()} />',
}

let folder: string
let output: string
let exitCode: number
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-style-'))
  for (const path of ['biome.json', '.gitignore', 'scripts/lint']) {
    cpSync(join(HOUSE, path), join(folder, path), { recursive: true })
  }
  mkdirSync(join(folder, 'web/ui'), { recursive: true })
  for (const [name, line] of Object.entries({ ...REFUSED, ...LEFT_ALONE })) {
    const body = `/** ${name} */\nexport function Example({ place, items }) {\n  ${line}\n}\n`
    writeFileSync(join(folder, toPath(name)), body)
  }
  const child = Bun.spawn([...STYLE_CHECK], { cwd: folder, stdout: 'pipe', stderr: 'pipe' })
  output = (await Promise.all([child.stdout.text(), child.stderr.text()])).join('')
  exitCode = await child.exited
})
afterAll(() => rmSync(folder, { recursive: true }))

function toPath(name: string): string {
  return `web/ui/${name.replaceAll(' ', '-')}.tsx`
}

const toldOf = (name: string) =>
  output.split('\n').filter((line) => line.includes(toPath(name)) && line.includes(TOLD))

describe('the style check refuses effects that may return something other than a clean-up to React', () => {
  test.each(Object.keys(REFUSED))('%s', (name) => {
    expect(toldOf(name)).toHaveLength(1)
    expect(exitCode).toBe(1)
  })
})

describe('and leaves alone', () => {
  test.each(Object.keys(LEFT_ALONE))('%s', (name) => {
    expect(output).toContain(toPath(name))
    expect(toldOf(name)).toEqual([])
  })
})
