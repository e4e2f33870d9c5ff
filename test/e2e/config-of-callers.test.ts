/** `gatehouse config` of tags with members, users and tags of keys, and the attribution settings. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { Browser } from '../support/browser.ts'
import { createPostgresScene, type PostgresScene } from '../support/postgres-scene.ts'
import { findPostgres } from '../support/postgres-server.ts'
import { runCliInProcess } from '../support/run-cli-in-process.ts'
import { describeIf } from '../support/skip-unless.ts'
import {
  type Gatehouse,
  PATIENT_WITH_DATABASE,
  startGatehouse,
} from '../support/start-gatehouse.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

setDefaultTimeout(180_000)

const ANN = 'ann@example.test'
const FILE = 'gatehouse.config.yaml'
const TEXT = `version: 1
attribution:
  sessions: false
  endUsers: true
tags:
  - name: team-a
    members: [Ann@example.test]
  - name: repo
keys:
  - name: ci
    user: ${ANN}
    tags: [team-a, 'repo:gatehouse']
accessTokens:
  - name: agent
    tags: [repo]
`

let postgres: PostgresScene | undefined
let work: TemporaryFolder
beforeAll(async () => {
  work = await createTemporaryFolder()
})
afterAll(async () => {
  await postgres?.remove()
  await work.remove()
})

async function start(kind: 'SQLite' | 'Postgres'): Promise<Gatehouse> {
  if (kind === 'Postgres') postgres ??= await createPostgresScene()
  const server = await startGatehouse({
    environment: {
      GATEHOUSE_SIGN_UP: 'open',
      ...(postgres !== undefined &&
        kind === 'Postgres' && {
          ...{ DATABASE_URL: await postgres.createDatabase(), ...PATIENT_WITH_DATABASE },
          GATEHOUSE_MASTER_KEY: '01'.repeat(32),
        }),
    },
  })
  return server
}

const withKey = ({ url, key }: Gatehouse) =>
  new Browser(url, {
    ...{ authorization: `Bearer ${key}`, origin: '', 'x-gatehouse-csrf': '', cookie: '' },
  })
const post = (body: object) => ({ method: 'POST', body })

/** An account with a member, a key and a token, whose ids differ on every server. */
async function fill(server: Gatehouse): Promise<{ member: string; key: string; token: string }> {
  const signUp = { email: ANN, name: 'Ann', password: 'correct horse battery staple' }
  const headers = { authorization: `Bearer ${server.key}` }
  const { user } = await new Browser(server.url).json('/v1/auth/sign-up', 201, {
    ...{ ...post(signUp), headers },
  })
  const { id: key } = await withKey(server).json('/v1/keys', 201, post({ name: 'ci' }))
  const named = post({ name: 'agent' })
  const { id: token } = await withKey(server).json('/v1/access-tokens', 201, named)
  return { member: (user as { id: string }).id, key: String(key), token: String(token) }
}

function run(server: Gatehouse, words: string, file = FILE) {
  const environment = { GATEHOUSE_URL: server.url, GATEHOUSE_API_KEY: server.key }
  return runCliInProcess([...words.split(' '), '--file', file], { folder: work.path, environment })
}
const write = (text: string, file = FILE) => Bun.write(join(work.path, file), text)
const read = (file: string) => Bun.file(join(work.path, file)).text()

describe('on SQLite', () => tryAll('SQLite'))
describeIf(findPostgres() !== undefined, 'needs Postgres')('on Postgres', () => tryAll('Postgres'))

function tryAll(kind: 'SQLite' | 'Postgres'): void {
  let server: Gatehouse
  let other: Gatehouse
  let ids: Awaited<ReturnType<typeof fill>>
  beforeAll(async () => {
    server = await start(kind)
    other = await start(kind)
    ids = await fill(server)
    await fill(other)
  })
  afterAll(async () => {
    await server.remove()
    await other.remove()
  })
  const get = (path: string) => withKey(server).json(path, 200)

  test('a push sets them, and a pull gives the same file on another server', async () => {
    await write(TEXT)
    expect(await run(server, 'config push')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('Done: 4 created, 1 changed.'),
    })
    expect(await get('/v1/account/attribution')).toEqual({
      ...{ membersAndTags: true, sessions: false, endUsers: true, peopleFigures: 'hidden' },
    })
    const { data } = await get('/v1/tags')
    expect(data).toMatchObject([{ name: 'repo' }, { name: 'team-a', members: [ids.member] }])
    const fixed = { user: ids.member, tags: ['team-a', 'repo:gatehouse'] }
    expect(await get(`/v1/keys/${ids.key}`)).toMatchObject({ name: 'ci', ...fixed })
    expect(await get(`/v1/access-tokens/${ids.token}`)).toMatchObject({ tags: ['repo'] })
    expect((await run(server, 'config diff')).exitCode).toBe(0)
    await run(server, 'config pull', 'pulled.yaml')
    const pulled = await read('pulled.yaml')
    expect(pulled).toContain(`keys:\n  - name: ci\n    user: ${ANN}\n`)
    expect(pulled).toContain('attribution:\n  membersAndTags: true\n  sessions: false\n')
    expect((await run(other, 'config push', 'pulled.yaml')).exitCode).toBe(0)
    await run(other, 'config pull', 'other.yaml')
    expect(await read('other.yaml')).toBe(pulled)
  })

  test('changes and removals reach only the user and the tags; the key stays', async () => {
    await write(TEXT.replace(`    user: ${ANN}\n`, '').replace('endUsers: true', ''))
    const changed = await run(server, 'config diff')
    expect(changed.stdout).toBe(
      `~ user and tags of the key ci\n    - user: "${ANN}"\n    + user: null\n`,
    )
    expect((await run(server, 'config push')).exitCode).toBe(0)
    expect(await get(`/v1/keys/${ids.key}`)).toMatchObject({ name: 'ci', user: null })
    expect(await get('/v1/account/attribution')).toMatchObject({ endUsers: true })
    await write('version: 1\nkeys: []\naccessTokens: []\n')
    const pruned = await run(server, 'config push --prune --yes')
    expect(pruned.stdout).toContain('- user and tags of the key ci (only on the server)')
    expect(await get(`/v1/keys/${ids.key}`)).toMatchObject({ name: 'ci', tags: [] })
    expect(await get(`/v1/access-tokens/${ids.token}`)).toMatchObject({ name: 'agent', tags: [] })
  })

  test('unknown members, keys, tokens and tags are faults with their lines', async () => {
    await write(`version: 1
tags:
  - name: team-a
    members:
      - ${ids.member}
      - nobody@example.test
      - ${ANN}
keys:
  - name: ci
    user: user_gone
    tags: [team-a, taem-a]
  - name: cd
accessTokens:
  - name: agnet
attribution:
  peopleFigures: everyone
`)
    expect(await run(server, 'config push')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`${FILE}:16: attribution.peopleFigures`),
    })
    await write((await read(FILE)).replace('peopleFigures: everyone', 'sessions: true'))
    const { stderr, exitCode } = await run(server, 'config push')
    expect([exitCode, ...stderr.trimEnd().split('\n').slice(1)]).toEqual([
      1,
      `${FILE}:6: tags[0].members[1] names no member of this account: 'nobody@example.test'. List: gatehouse users list`,
      `${FILE}:7: tags[0].members[2] names a member again: '${ANN}'`,
      `${FILE}:10: keys[0].user names no member of this account: 'user_gone'. List: gatehouse users list`,
      `${FILE}:11: keys[0].tags[1] names no tag. Did you mean 'team-a'?`,
      `${FILE}:12: keys[1].name names no key`,
      `${FILE}:14: accessTokens[0].name names no access token`,
    ])
    expect(await get('/v1/account/attribution')).toMatchObject({ sessions: false })
  })

  test('a push that an API key may not make changes nothing, and says who may', async () => {
    const before = await get('/v1/account/attribution')
    await write(`version: 1
attribution:
  sessions: true
  peopleFigures: administrators
tags:
  - name: team-b
`)
    for (const words of ['config push --dry-run', 'config push'])
      expect(await run(server, words)).toMatchObject({
        ...{ exitCode: 1, stdout: '' },
        stderr:
          'gatehouse: The file is not valid, so nothing was changed.\n' +
          `${FILE}:4: attribution.peopleFigures cannot become 'administrators': an API key cannot ` +
          'change it in an account with members. The owner changes it in the dashboard, under ' +
          'Settings → Account. Or write peopleFigures: hidden, or take the line out\n',
      })
    expect((await run(server, 'config diff')).stdout).toContain('+ peopleFigures: "administrators"')
    expect(await get('/v1/account/attribution')).toEqual(before)
    expect(JSON.stringify(await get('/v1/tags'))).not.toContain('team-b')
  })

  test('budgets that would count no call, and of unknown tags, are faults with their lines', async () => {
    const text = `version: 1
attribution:
  endUsers: false
budgets:
  - { endUser: bob, limitUsd: 5, period: day }
  - { tag: nowhere, limitUsd: 5, period: day }
  - { scope: each-user, limitUsd: 5, period: day }
`
    await write(text)
    const { stderr, exitCode } = await run(server, 'config push')
    expect([exitCode, ...stderr.trimEnd().split('\n').slice(1)]).toEqual([
      1,
      `${FILE}:5: budgets[0].endUser would count no call, because the account does not record end users: switch on attribution.endUsers`,
      `${FILE}:6: budgets[1].tag names no tag.`,
    ])
    await write(text.replace('false', 'true').replace('nowhere', 'repo'))
    expect(await run(server, 'config push')).toMatchObject({ exitCode: 0 })
  })

  test('keys that share a name are left out of a pull, and a push does not choose one', async () => {
    const second = { name: 'twin', tags: ['repo'] }
    for (const _ of [1, 2]) await withKey(server).json('/v1/keys', 201, post(second))
    const pulled = await run(server, 'config pull', 'pulled.yaml')
    expect(pulled.stderr).toContain('are left out: several have this name')
    expect(await read('pulled.yaml')).not.toContain('twin')
    await write('version: 1\nkeys:\n  - name: twin\n    tags: []\n')
    expect((await run(server, 'config push')).stderr).toContain('2 keys: give each another name')
  })
}
