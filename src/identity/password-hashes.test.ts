/** A password that was hashed a moment ago is known without being hashed again. */
import { expect, test } from 'bun:test'
import { PasswordHashes, PasswordWork } from './passwords.ts'

/** Until `leave`, nobody else gets a turn, or a place to wait for one. */
function crowd(work: PasswordWork): { leave: () => Promise<unknown> } {
  const ended = Promise.withResolvers<void>()
  const all = Array.from({ length: 66 }, () => work.run(() => ended.promise))
  return {
    leave: () => {
      ended.resolve()
      return Promise.all(all)
    },
  }
}

test('a new user gets in without a second hashing, which could be refused', async () => {
  const work = new PasswordWork()
  const hashes = new PasswordHashes(work)
  const hash = await hashes.hash('right')
  const { leave } = crowd(work)
  await hashes.whileFresh(hash, 'right', async () => {
    expect(await hashes.verify({ hash, password: 'right' })).toBeTrue()
    const wrong = hashes.verify({ hash, password: 'wrong' })
    await expect(wrong).rejects.toMatchObject({ kind: 'rate_limited' })
  })
  // Nothing is remembered.
  await expect(hashes.verify({ hash, password: 'right' })).rejects.toMatchObject({
    kind: 'rate_limited',
  })
  await leave()
})

test('a password is compared with the hash that it is given, before and after it was new', async () => {
  const hashes = new PasswordHashes(new PasswordWork())
  const hash = await hashes.hash('right')
  const other = await hashes.hash('other')
  await hashes.whileFresh(hash, 'right', async () => {
    expect(await hashes.verify({ hash, password: 'wrong' })).toBeFalse()
    expect(await hashes.verify({ hash: other, password: 'right' })).toBeFalse()
  })
  expect(await hashes.verify({ hash, password: 'right' })).toBeTrue()
})
