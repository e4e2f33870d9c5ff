/** The requests that the commands of the log send to a gateway. */
import { expect, test } from 'bun:test'
import { runCliInProcess } from '../../test/support/run-cli-in-process.ts'

test('logs --follow goes by the clock of the gateway, however far ahead its own is', async () => {
  const gatewayNowMs = Date.now() - 7_200_000
  const asked: URL[] = []
  const server = Bun.serve({
    port: 0,
    fetch(request) {
      asked.push(new URL(request.url))
      if (asked.length === 3) return new Response(null, { status: 500 })
      const date = new Date(gatewayNowMs).toUTCString()
      return Response.json({ data: [], nextCursor: null }, { headers: { date } })
    },
  })
  const environment = { GATEHOUSE_URL: server.url.href, GATEHOUSE_API_KEY: 'key' }
  await runCliInProcess(['logs', '--follow'], { environment }).finally(() => server.stop(true))
  const froms = asked.map(({ searchParams }) => searchParams.get('from'))
  expect(froms).toHaveLength(3)
  // A call that begins now is in none of the windows that begin later.
  for (const from of froms) expect(Date.parse(from ?? '1970')).toBeLessThan(gatewayNowMs)
  // The later ones do not read the whole log.
  for (const from of froms.slice(1))
    expect(Date.parse(from ?? '')).toBeGreaterThan(gatewayNowMs - 3_600_000)
})

test.each([
  [['--refused'], 'any'],
  [['--refused', 'price_unknown'], 'price_unknown'],
  [[], null],
])('logs %j asks for calls that the gateway refused: %p', async (words, refused) => {
  const asked: (string | null)[] = []
  const server = Bun.serve({
    port: 0,
    fetch(request) {
      asked.push(new URL(request.url).searchParams.get('refused'))
      return Response.json({ data: [], nextCursor: null })
    },
  })
  const environment = { GATEHOUSE_URL: server.url.href, GATEHOUSE_API_KEY: 'key' }
  await runCliInProcess(['logs', ...words], { environment }).finally(() => server.stop(true))
  expect(asked).toEqual([refused])
})

test('a reason that no call fails for is refused, with those that there are', async () => {
  const words = ['logs', '--error-kind', 'rate_limit_exceeded']
  expect(await runCliInProcess(words, { environment: {} })).toMatchObject({
    exitCode: 2,
    stdout: '',
    stderr: expect.stringMatching(/'rate_limit_exceeded' is invalid.* rate_limited,/),
  })
})

test.each([
  [['logs', '--key'], '/v1/logs?'],
  [['usage', '--key'], '/v1/analytics?'],
  [['budgets', 'create', '--usd', '5', '--period', 'day', '--key'], '/v1/budgets '],
])('a key is known by the short id that keys list shows: %j', async (words, path) => {
  const id = 'key_01a1fbc63aa470d6877cf556d6121edd'
  const asked: string[] = []
  const server = Bun.serve({
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      if (pathname === '/v1/keys') return Response.json({ data: [{ id }], nextCursor: null })
      asked.push(`${pathname}${search} ${await request.text()}`)
      return new Response(null, { status: 500 })
    },
  })
  const environment = { GATEHOUSE_URL: server.url.href, GATEHOUSE_API_KEY: 'key' }
  for (const given of ['6121edd', id]) await runCliInProcess([...words, given], { environment })
  const unknown = await runCliInProcess([...words, '0123456'], { environment })
  await server.stop(true)
  expect(asked).toEqual([1, 2].map(() => expect.stringContaining(path)))
  expect(asked.map((question) => question.includes(id))).toEqual([true, true])
  expect(unknown).toMatchObject({ exitCode: 4, stdout: '' })
})
