/**
 * Amazon Bedrock's errors, and its two forms of key: a Bearer key and a signature of AWS. Knows no
 * message.
 */
import { bearerOf } from '../check-key.ts'
import { Refusal } from '../refusal.ts'
import type { Vendor } from '../vendor.ts'

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html#API_runtime_Converse_Errors */
const TYPES: Readonly<Record<number, string>> = {
  400: 'ValidationException',
  401: 'UnrecognizedClientException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  408: 'ModelTimeoutException',
  424: 'ModelErrorException',
  429: 'ThrottlingException',
  500: 'InternalServerException',
  503: 'ServiceUnavailableException',
}

/** Well-formed is enough: the sandbox has no secret to check a signature with. */
const SIGNATURE =
  /^AWS4-HMAC-SHA256 Credential=(?<key>[\w-]+)\/\d{8}\/[a-z0-9-]+\/bedrock\/aws4_request, ?SignedHeaders=(?<signed>[a-z0-9;-]+), ?Signature=[0-9a-f]{64}$/

export const bedrockVendor: Vendor = {
  findKey({ headers }) {
    const authorization = headers.get('authorization')?.trim() ?? ''
    if (!authorization.startsWith('AWS4')) return bearerOf(headers)
    const { key, signed } = SIGNATURE.exec(authorization)?.groups ?? {}
    const isSigned = signed?.split(';').includes('host') && signed.includes('x-amz-date')
    if (key !== undefined && isSigned && headers.has('x-amz-date')) return key
    throw new Refusal(
      403,
      'The signature of the request is not well-formed, or does not cover host and x-amz-date.',
      {
        type: 'IncompleteSignatureException',
      },
    )
  },
  idHeader: 'x-amzn-requestid',
  encodeRefusal(refusal) {
    if (refusal.keyFault !== null) {
      const type =
        refusal.keyFault === 'bad' ? 'UnrecognizedClientException' : 'AccessDeniedException'
      return {
        status: 403,
        headers: { 'x-amzn-errortype': type },
        body: { message: refusal.message },
      }
    }
    const { status } = refusal
    const fallback = status >= 500 ? 'InternalServerException' : 'ValidationException'
    const type = refusal.type.endsWith('Exception') ? refusal.type : (TYPES[status] ?? fallback)
    return { status, headers: { 'x-amzn-errortype': type }, body: { message: refusal.message } }
  },
}
