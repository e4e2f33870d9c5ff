import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { Secret } from './secret.ts'
import { createVault, VaultError } from './vault.ts'

const OLD = new Secret('00'.repeat(32))
const NEW = new Secret(Buffer.alloc(32, 7).toString('base64'))

test('any text comes back, for its own row only', () => {
  const vault = createVault([NEW])
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), fc.string(), (text, row, other) => {
      const sealed = vault.encrypt(new Secret(text), row)
      expect(vault.decrypt(sealed, row).reveal()).toBe(Buffer.from(text).toString())
      if (other !== row) expect(() => vault.decrypt(sealed, other)).toThrow(VaultError)
    }),
  )
})

test('a change of any character makes a text unreadable', () => {
  const vault = createVault([NEW])
  const sealed = vault.encrypt(new Secret('sk-planted'), 'row')
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1)
    let opened: string | undefined
    try {
      opened = vault.decrypt(changed, 'row').reveal()
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(VaultError)
    }
    // The last character of base64url may contain unused bits.
    if (opened !== undefined) expect([opened, at]).toEqual(['sk-planted', sealed.length - 1])
  }
})

test('a retiring key opens its texts, and encrypts no new ones', () => {
  const before = createVault([OLD])
  const sealed = before.encrypt(new Secret('x'), 'row')
  const during = createVault([NEW, OLD])
  expect(during.decrypt(sealed, 'row').reveal()).toBe('x')
  expect(during.isCurrent(sealed)).toBe(false)
  expect(during.isCurrent(during.encrypt(new Secret('x'), 'row'))).toBe(true)
  expect(() => createVault([NEW]).decrypt(sealed, 'row')).toThrow('is missing')
})

test.each(['', 'short', 'zz'.repeat(32), 'A'.repeat(50)])(
  '%j is refused as a master key, and is not repeated',
  (text) => {
    try {
      createVault([new Secret(text)])
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(VaultError)
      if (text !== '') expect(String(thrown)).not.toContain(text)
      return
    }
    throw new Error('it was taken')
  },
)
