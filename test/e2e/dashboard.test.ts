/**
 * The dashboard's files as the real server hands them out. What the pages do is told in
 * test/browser.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Gatehouse, startGatehouse } from '../support/start-gatehouse.ts'

let gatehouse: Gatehouse
beforeAll(async () => {
  gatehouse = await startGatehouse()
})
afterAll(() => gatehouse.remove())

test('a browser on the gateway’s address goes to the dashboard, and a program gets the list of endpoints', async () => {
  const asBrowser = await fetch(gatehouse.url, {
    headers: { accept: 'text/html,*/*' },
    redirect: 'manual',
  })
  expect({ status: asBrowser.status, location: asBrowser.headers.get('location') }).toEqual({
    status: 302,
    location: '/dashboard',
  })
  expect(await (await fetch(gatehouse.url)).json()).toMatchObject({
    name: 'Gatehouse',
    dashboard: '/dashboard',
  })
})

test('every file of the page is there, compressed, and loads nothing from another host', async () => {
  const page = await (await fetch(`${gatehouse.url}/dashboard`)).text()
  const named = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = '']) => address)
  const files = named.filter((address) => address.startsWith('/dashboard/'))
  expect(files.length).toBeGreaterThanOrEqual(3)
  // The session is requested before the scripts are here.
  expect(named.filter((address) => !files.includes(address))).toEqual(['/v1/session'])
  for (const address of files) {
    const response = await fetch(gatehouse.url + address, { headers: { 'accept-encoding': 'br' } })
    expect({ address, status: response.status }).toEqual({ address, status: 200 })
    await response.arrayBuffer()
  }
})

test('the first start prints the key in the dashboard’s link, behind the #, which no server sees', async () => {
  const fresh = await startGatehouse({ environment: { GATEHOUSE_BOOTSTRAP_KEY: '' } })
  try {
    expect(fresh.output()).toMatch(
      /The dashboard: http:\S+\/dashboard\/welcome#key=sk-svc-[0-9a-f]{64}/,
    )
  } finally {
    await fresh.remove()
  }
})
