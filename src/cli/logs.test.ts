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

test('a reason that no call fails for is refused, with those that there are', async () => {
  const words = ['logs', '--error-kind', 'rate_limit_exceeded']
  expect(await runCliInProcess(words, { environment: {} })).toMatchObject({
    exitCode: 2,
    stdout: '',
    stderr: expect.stringMatching(/'rate_limit_exceeded' is invalid.* rate_limited,/),
  })
})
