/** A server that is no gateway, or a broken one: no command obeys it, fills memory or goes on for ever. */
import { afterEach, describe, expect, test } from 'bun:test'
import { runCliInProcess } from '../../test/support/run-cli-in-process.ts'
import { LOCALHOST_CERTIFICATE } from '../../test/support/tls-certificates.ts'

let server: Bun.Server<undefined> | undefined
afterEach(() => server?.stop(true))

function serve(answer: (request: Request) => Response): string {
  server = Bun.serve({ port: 0, fetch: answer })
  return server.url.href
}

const run = (words: readonly string[], url: string) =>
  runCliInProcess(words, { environment: { GATEHOUSE_URL: url, GATEHOUSE_API_KEY: 'key' } })

describe('a list whose cursor leads back to itself', () => {
  test.each([
    ['keys list', 'GET', { data: [] }],
    [
      'costs verify',
      'POST',
      { differences: [], source: 's', checked: 1, fixed: 0, incomparable: [] },
    ],
  ])('%s: is no answer of a gateway', async (words, method, page) => {
    let asked = 0
    const url = serve((request) => {
      if (request.method === method) asked += 1
      // A command that would go on is let go.
      return asked > 50
        ? new Response(null, { status: 500 })
        : Response.json({ ...page, nextCursor: 'same' })
    })
    const ran = await run(words.split(' '), url)
    expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('GATEHOUSE_URL') })
    expect(asked).toBeLessThan(10)
  })
})

test('rows that are no objects are no answer of a gateway', async () => {
  const url = serve(() => Response.json({ data: [null, 1], nextCursor: null }))
  const ran = await run(['keys', 'list'], url)
  expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('GATEHOUSE_URL') })
})

describe('members other than a gateway of this version has', () => {
  test.each(['keys list', 'gates show g', 'logs', 'usage', 'budgets show b', 'call g hi', 'audit'])(
    'are told by %s as such',
    async (words) => {
      const strange = { id: 1, data: [{ id: 1, usage: 1 }], nextCursor: null }
      const ran = await run(
        words.split(' '),
        serve(() => Response.json(strange)),
      )
      expect(ran.exitCode).toBe(1)
      expect(ran.stderr).toContain('GATEHOUSE_URL sent an answer that this version cannot read')
    },
  )
})

describe('a line that a server puts into a value', () => {
  const FORGED = 'harmless\nowner  somebody'

  test('begins where values begin, and so looks like no member', async () => {
    const times = { createdAt: null, updatedAt: null }
    const gate = { id: 'g', displayName: FORGED, description: FORGED, targets: [], ...times }
    const ran = await run(
      ['gates', 'show', 'g'],
      serve(() => Response.json({ ...gate, defaults: {} })),
    )
    expect(ran.exitCode).toBe(0)
    expect(ran.stdout).toContain('owner  somebody')
    expect(ran.stdout).not.toMatch(/^owner/m)
  })

  test('begins no line of a failure', async () => {
    const error = { error: 'invalid_request', message: FORGED }
    const ran = await run(
      ['keys', 'list'],
      serve(() => Response.json(error, { status: 400 })),
    )
    expect(ran.stderr).toBe('gatehouse: harmless owner somebody\n')
  })
})

test('a server without TLS is named so, not called absent', async () => {
  const url = serve(() => new Response()).replace('http:', 'https:')
  const ran = await run(['keys', 'list'], url)
  expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('does not speak TLS') })
})

describe('an answer without end', () => {
  const MIB = new Uint8Array(1024 * 1024).fill(0x20)
  let sentMib = 0
  const endless = () => {
    const body = new ReadableStream({
      async pull(controller) {
        sentMib += 1
        // A command that would go on is let go.
        if (sentMib > 400) controller.close()
        else controller.enqueue(MIB)
        await Bun.sleep(0)
      },
    })
    return new Response(body, { headers: { 'content-type': 'application/json' } })
  }

  test.each([
    ['keys list', 'stderr', 'more than 64 MiB'],
    ['doctor', 'stdout', 'not as a gateway'],
  ] as const)('is read by %s as far as any gateway answers', async (words, screen, told) => {
    sentMib = 0
    const ran = await run(words.split(' '), serve(endless))
    expect(ran.exitCode).toBe(1)
    expect(ran[screen]).toContain(told)
    expect(sentMib).toBeLessThan(300)
  })
})

describe('what a terminal would obey', () => {
  const OBEYED = '\u001b]0;renamed\u0007\u001b[2J\u009b31m\u202egnp\u2066'
  const BARE = /(?!\n)[\p{Cc}\u202a-\u202e\u2066-\u2069]/u
  const quota = { used: OBEYED, reserved: 0, limit: 1, unpricedCalls: 0, resetsAt: null }
  const answer = {
    ...{ id: OBEYED, key: OBEYED, name: OBEYED, secret: OBEYED, plan: OBEYED },
    ...{ maskedKey: OBEYED, provider: OBEYED, active: true, delivered: true, detail: OBEYED },
    ...{ differences: [], source: OBEYED, checked: 1, fixed: 0, nextCursor: null },
    ...{ incomparable: [{ source: OBEYED, calls: 1 }], limits: {} },
    quota: { tokens: quota, spend: quota },
  }

  test.each([
    'account',
    'account --json',
    'costs verify',
    'keys create n',
    'webhooks create https://a.test --events e',
    'webhooks test wh_1',
    'webhooks test wh_1 --json',
    'provider-keys activate p',
  ])('is left out of what %s prints', async (words) => {
    const ran = await run(
      words.split(' '),
      serve(() => Response.json(answer)),
    )
    expect(ran.exitCode).toBe(0)
    expect(ran.stdout).toContain('renamed')
    expect(ran.stdout + ran.stderr).not.toMatch(BARE)
  })

  test('is left out of a failure as JSON', async () => {
    const url = serve(() =>
      Response.json({ error: { code: OBEYED, message: OBEYED } }, { status: 400 }),
    )
    const ran = await run(['keys', 'list', '--json'], url)
    expect(ran.stderr).not.toMatch(BARE)
    expect(JSON.parse(ran.stderr)).toEqual({ error: OBEYED, message: OBEYED })
  })
})

test('a certificate that nobody trusts is told as such, and no key is sent', async () => {
  let asked = 0
  server = Bun.serve({
    port: 0,
    tls: LOCALHOST_CERTIFICATE,
    fetch() {
      asked += 1
      return Response.json({})
    },
  })
  const ran = await run(['keys', 'list'], `https://localhost:${server.port}`)
  expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('NODE_EXTRA_CA_CERTS') })
  expect(asked).toBe(0)
})
