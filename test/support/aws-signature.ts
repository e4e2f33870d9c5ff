/** Computes the signature of an arrived request with AWS's own library. */
import { Sha256 } from '@aws-crypto/sha256-js'
import { SignatureV4 } from '@smithy/signature-v4'
import type { CapturedRequest } from './raw-upstream.ts'

export interface AwsSigner {
  readonly region: string
  readonly service: string
  readonly credentials: {
    readonly accessKeyId: string
    readonly secretAccessKey: string
    readonly sessionToken?: string
  }
}

export async function awsSignatureOf(request: CapturedRequest, signer: AwsSigner): Promise<string> {
  const { method, path, headers, body } = request
  const names = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1]?.split(';') ?? []
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(headers['x-amz-date'] ?? '') ?? []
  const library = new SignatureV4({ ...signer, sha256: Sha256, applyChecksum: false })
  const signed = await library.sign(
    {
      method,
      path,
      protocol: 'http:',
      hostname: '127.0.0.1',
      headers: Object.fromEntries(names.map((name) => [name, headers[name] ?? ''])),
      body,
    },
    { signingDate: new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) },
  )
  return signed.headers.authorization ?? ''
}
