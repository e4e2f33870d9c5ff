/**
 * A Google service account with a token endpoint of the test's own, and a reader of its signatures.
 */
import { createVerify, generateKeyPairSync } from 'node:crypto'

export interface ServiceAccount {
  readonly json: string
  readonly secrets: readonly string[]
  /**
   * The claims of a token request's body.
   * @throws when another key signed the request
   */
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
