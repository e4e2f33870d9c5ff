import { expect, test } from 'bun:test'
import { UsedEntries } from './used-entries.ts'

test('each entry is stored once, also after a failure and while others are noted', async () => {
  const stored: string[] = []
  let fails = true
  const used: UsedEntries = new UsedEntries({
    now: () => 5,
    store: {
      async add(entries) {
        used.note({ hash: 'late', text: '3' })
        if (fails) throw new Error('down')
        stored.push(
          ...entries.map(({ hash, text, firstUsedAt }) => `${hash} ${text} ${firstUsedAt}`),
        )
      },
    },
  })
  used.note({ hash: 'a', text: '1' })
  used.note({ hash: 'a', text: '1' })
  await expect(used.store()).rejects.toThrow('down')
  fails = false
  await used.store()
  await used.store()
  expect(stored).toEqual(['a 1 5', 'late 3 5'])
})
