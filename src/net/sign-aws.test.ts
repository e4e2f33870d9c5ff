import { describe, expect, test } from 'bun:test'
import { Sha256 } from '@aws-crypto/sha256-js'
import { SignatureV4 } from '@smithy/signature-v4'
import { awsRegionOf, parseAwsCredential, signAws } from './sign-aws.ts'

const credential = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
}
const now = new Date('2015-08-30T12:36:00Z')
const vanilla = {
  url: 'https://example.amazonaws.com/',
  headers: {},
  body: new Uint8Array(0),
  region: 'us-east-1',
  service: 'service',
  credential,
  now,
}

describe('a signature', () => {
  // aws-sig-v4-test-suite: get-vanilla, post-vanilla, get-vanilla-query-order-key-case
  test.each([
    ['GET', '/', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    ['POST', '/', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
    [
      'GET',
      '/?Param2=value2&Param1=value1',
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
  ])('is that of AWS’s test suite: %s %s', async (method, path, signature) => {
    expect(
      await signAws({ ...vanilla, method, url: `https://example.amazonaws.com${path}` }),
    ).toEqual({
      host: 'example.amazonaws.com',
      'x-amz-date': '20150830T123600Z',
      authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`,
    })
  })

  test('covers the path as it is sent, encoded once more, its headers, its body and the session', async () => {
    const headers = await signAws({
      ...vanilla,
      method: 'POST',
      url: 'https://models.eu-west-1.amazonaws.com:8443/model/arn%3Aaws%3Ax%2Fa.b-v1%3A0/converse',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from('{"a":"ä"}'),
      credential: { ...credential, sessionToken: 'token' },
    })
    expect(headers).toMatchObject({
      host: 'models.eu-west-1.amazonaws.com:8443',
      'x-amz-security-token': 'token',
      'content-type': 'application/json',
    })
    const hash = async (text: string, secret?: string | Uint8Array) => {
      const sha = secret === undefined ? new Sha256() : new Sha256(secret)
      sha.update(text)
      return await sha.digest()
    }
    const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
    const canonical = [
      'POST',
      '/model/arn%253Aaws%253Ax%252Fa.b-v1%253A0/converse',
      '',
      'content-type:application/json',
      'host:models.eu-west-1.amazonaws.com:8443',
      'x-amz-date:20150830T123600Z',
      'x-amz-security-token:token',
      '',
      'content-type;host;x-amz-date;x-amz-security-token',
      hex(await hash('{"a":"ä"}')),
    ].join('\n')
    const scope = '20150830/us-east-1/service/aws4_request'
    let key: Uint8Array = Buffer.from(`AWS4${credential.secretAccessKey}`)
    for (const part of scope.split('/')) key = await hash(part, key)
    const toSign = ['AWS4-HMAC-SHA256', '20150830T123600Z', scope, hex(await hash(canonical))].join(
      '\n',
    )
    expect(headers.authorization).toEndWith(`Signature=${hex(await hash(toSign, key))}`)
  })

  test('is the same with the library’s own hash', async () => {
    const body = new Uint8Array(100_000).fill(7)
    const library = new SignatureV4({
      region: 'us-east-1',
      service: 'service',
      credentials: credential,
      sha256: Sha256,
      applyChecksum: false,
    })
    const signed = await library.sign(
      {
        method: 'POST',
        protocol: 'https:',
        hostname: 'example.amazonaws.com',
        path: '/',
        headers: { host: 'example.amazonaws.com' },
        body,
      },
      { signingDate: now },
    )
    expect(await signAws({ ...vanilla, method: 'POST', body })).toEqual(signed.headers)
  })

  test('fails without a secret in its error', async () => {
    const broken = signAws({ ...vanilla, method: 'GET', url: 'no address' })
    expect(String(await broken.catch((thrown: unknown) => thrown))).not.toContain(
      credential.secretAccessKey,
    )
  })
})

describe('a credential', () => {
  test.each([
    [
      'AKIAEXAMPLE123456789:se/cr+et=',
      { accessKeyId: 'AKIAEXAMPLE123456789', secretAccessKey: 'se/cr+et=' },
    ],
    [
      'ASIAEXAMPLE123456789:secret:to+ken==',
      { accessKeyId: 'ASIAEXAMPLE123456789', secretAccessKey: 'secret', sessionToken: 'to+ken==' },
    ],
  ])('is a key id, its secret and perhaps a session: %s', (text, parsed) => {
    expect(parseAwsCredential(text)).toEqual(parsed)
  })

  test.each([
    'ABSKQmVkcm9ja0FQSUtleS1leGFtcGxl',
    'bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29tLz9B',
    'AKIAEXAMPLE123456789',
    'AKIAEXAMPLE123456789:',
    'AKIAEXAMPLE123456789:secret:',
    'AKIAEXAMPLE123456789:secret:token:more',
    'short:secret',
    '',
  ])('in another form is an API key: %s', (text) => {
    expect(parseAwsCredential(text)).toBeUndefined()
  })
})

test.each([
  ['https://models.eu-west-1.amazonaws.com', 'eu-west-1'],
  ['https://models-fips.us-gov-west-1.amazonaws.com', 'us-gov-west-1'],
  ['https://vpce-0a1b-2c3d.models.ap-southeast-2.vpce.amazonaws.com/x', 'ap-southeast-2'],
  ['https://models.eusc-de-east-1.amazonaws.eu', 'eusc-de-east-1'],
  ['https://my-proxy-1.example.com', 'us-east-1'],
  ['http://127.0.0.1:4000', 'us-east-1'],
])('the region of %s is %s', (url, region) => {
  expect(awsRegionOf(url)).toBe(region)
})
