import { expect, test } from 'bun:test'
import { PasswordWork } from './passwords.ts'

test('two run at once, the others wait in their order, and too many are refused', async () => {
  const work = new PasswordWork()
  const finish: (() => void)[] = []
  const begun: number[] = []
  const start = (index: number) =>
    work.run(
      () =>
        new Promise<void>((resolve) => {
          begun.push(index)
          finish.push(resolve)
        }),
    )
  const all = Array.from({ length: 66 }, (_, index) => start(index))
  expect(begun).toEqual([0, 1])
  expect(start(66)).rejects.toMatchObject({ kind: 'rate_limited' })
  while (finish.length > 0) {
    finish.shift()?.()
    await Bun.sleep(0)
  }
  await Promise.all(all)
  expect(begun).toEqual(Array.from({ length: 66 }, (_, index) => index))
  expect(await work.run(async () => 'free again')).toBe('free again')
})

test('work that fails gives its place back', async () => {
  const work = new PasswordWork()
  for (let index = 0; index < 5; index += 1) {
    await work.run(() => Promise.reject(new Error('no'))).catch(() => {})
  }
  expect(await work.run(async () => 1)).toBe(1)
})
