/**
 * A Google service account whose token endpoint is wherever a test put it, and a reader of what is
 * signed with its key.
 */
import { createVerify, generateKeyPairSync } from 'node:crypto'

export interface ServiceAccount {
  /** As an operator would paste it: several lines. */
  readonly json: string
  /** Lines of the private key: none may ever be shown. */
  readonly secrets: readonly string[]
  /** The claims of a token request's body. @throws when it is not signed with this account's key */
  readClaims(form: string): Record<string, unknown>
}

export function createServiceAccount(tokenUri: string, members: object = {}): ServiceAccount {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const account = {
    type: 'service_account',
    project_id: 'acme-1',
    private_key_id: 'key-1',
    private_key: pem,
    client_email: 'gateway@acme-1.iam.gserviceaccount.com',
    token_uri: tokenUri,
    ...members,
  }
  return {
    json: JSON.stringify(account, null, 2),
    secrets: pem.split('\n').filter((line) => line.length > 20 && !line.startsWith('-----')),
    readClaims(form) {
      const assertion = new URLSearchParams(form).get('assertion') ?? ''
      const [head = '', payload = '', signature = ''] = assertion.split('.')
      const verifier = createVerify('RSA-SHA256').update(`${head}.${payload}`)
      if (!verifier.verify(publicKey, signature, 'base64url'))
        throw new Error('the signature is wrong')
      return JSON.parse(Buffer.from(payload, 'base64url').toString())
    },
  }
}
