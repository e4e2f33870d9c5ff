/**
 * An OpenID Connect provider with one user, as strict as a real provider: PKCE, the client's
 * secret, a signed token with the nonce.
 */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

export interface IdentityProvider {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  user: Readonly<Record<string, unknown>>
  /** Of the id token that is issued next; undefined: none is. */
  idTokenClaims: ((user: object) => object) | undefined
  stop(): Promise<void>
}

export function startIdentityProvider(options: { readonly port?: number } = {}): IdentityProvider {
  const clientId = 'gatehouse'
  const clientSecret = randomBytes(16).toString('hex')
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const codes = new Map<string, { nonce: string; challenge: string; redirect: string }>()
  const provider: Pick<IdentityProvider, 'user' | 'idTokenClaims'> = {
    idTokenClaims: (user) => user,
    user: { sub: 'sub-1', email: 'somebody@example.test', email_verified: true, name: 'Somebody' },
  }
  const server = Bun.serve({ hostname: '127.0.0.1', port: options.port ?? 0, fetch: handle })
  const issuer = `http://127.0.0.1:${server.port}`

  async function handle(request: Request): Promise<Response> {
    const url = new URL(request.url)
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return Response.json({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/jwks`,
          userinfo_endpoint: `${issuer}/userinfo`,
          id_token_signing_alg_values_supported: ['RS256'],
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
        })
      case '/jwks':
        return Response.json({
          keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }],
        })
      case '/userinfo':
        return Response.json(provider.user)
      case '/authorize':
        return authorize(url.searchParams)
      case '/token':
        return token(
          new URLSearchParams(await request.text()),
          request.headers.get('authorization'),
        )
      default:
        return new Response(null, { status: 404 })
    }
  }

  function authorize(query: URLSearchParams): Response {
    const code = randomBytes(16).toString('hex')
    const redirect = query.get('redirect_uri') ?? ''
    if (query.get('client_id') !== clientId || query.get('code_challenge_method') !== 'S256')
      return new Response(null, { status: 400 })
    codes.set(code, {
      nonce: query.get('nonce') ?? '',
      challenge: query.get('code_challenge') ?? '',
      redirect,
    })
    const back = new URLSearchParams({ code, state: query.get('state') ?? '' })
    return Response.redirect(`${redirect}?${back}`, 302)
  }

  function token(form: URLSearchParams, authorization: string | null): Response {
    const issued = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`
    const isClient = form.get('client_secret') === clientSecret || authorization === basic
    if (issued === undefined || issued.challenge !== challenge || !isClient)
      return Response.json({ error: 'invalid_grant' }, { status: 400 })
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      iss: issuer,
      aud: clientId,
      iat: now,
      exp: now + 300,
      nonce: issued.nonce,
      ...provider.idTokenClaims?.(provider.user),
    }
    return Response.json({
      access_token: 'at-canary-0123456789',
      refresh_token: 'rt-canary-0123456789',
      token_type: 'Bearer',
      expires_in: 300,
      ...(provider.idTokenClaims && { id_token: toJwt(claims) }),
    })
  }

  function toJwt(claims: object): string {
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
    const text = `${encode({ alg: 'RS256', typ: 'JWT', kid: 'one' })}.${encode(claims)}`
    return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`
  }

  return Object.assign(provider, { issuer, clientId, clientSecret, stop: () => server.stop(true) })
}
