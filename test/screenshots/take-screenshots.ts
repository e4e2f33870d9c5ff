/**
 * `make screenshots`: pictures of every page of the dashboard, light and dark, into
 * docs/screenshots/. Real server, real browser, made-up account.
 * `bun test/screenshots/take-screenshots.ts [--only NAME] [--out FOLDER]`
 */
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { OWNER, openBrowser, signUpOwner } from '../support/chromium.ts'
import { startGatehouse } from '../support/start-gatehouse.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'
import { callTheSandbox, makeDemoAccount } from './demo-account.ts'
import { seedAgents } from './demo-agents.ts'
import { seedHistory } from './demo-history.ts'
import { PICTURES } from './pictures.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    out: { type: 'string', default: resolve(import.meta.dir, '../../docs/screenshots') },
  },
})

/** A page has few colours: a third of the bytes shows the same. */
function shrink(path: string): void {
  const { exitCode, stderr } = Bun.spawnSync([
    'pngquant',
    '--force',
    '--ext',
    '.png',
    '--strip',
    '128',
    path,
  ])
  if (exitCode !== 0) throw new Error(`pngquant: ${stderr}`)
}

const LAPTOP = { width: 1280, height: 800 }
const PHONE = { width: 390, height: 844 }

/** As if the operator had given credentials; nothing is ever asked with them. */
const ENVIRONMENT = {
  GATEHOUSE_TRUSTED_HOSTS: '127.0.0.1',
  OPENAI_API_KEY: 'none',
  ANTHROPIC_API_KEY: 'none',
  MISTRAL_API_KEY: 'none',
}

const folder = await createTemporaryFolder()
const browser = await openBrowser()
let gatehouse = await startGatehouse({
  dataFolder: folder.path,
  sandbox: true,
  environment: ENVIRONMENT,
})
try {
  const keys = await makeDemoAccount(gatehouse)
  // The history is written past the server, so the server has to be away meanwhile.
  await gatehouse.stop()
  const now = Date.now()
  const count =
    (await seedHistory(folder.path, keys, now)) +
    (await seedAgents(folder.path, keys.get('coding agents') ?? '', now))
  console.log(`${count} calls made up`)
  gatehouse = await startGatehouse({
    dataFolder: folder.path,
    key: gatehouse.key,
    sandbox: true,
    environment: ENVIRONMENT,
  })
  await callTheSandbox(gatehouse)

  mkdirSync(values.out, { recursive: true })
  let hasOwner = false
  for (const look of ['light', 'dark', 'phone'] as const) {
    const visit = await browser.visit(gatehouse.url, {
      viewport: look === 'phone' ? PHONE : LAPTOP,
      colorScheme: look === 'dark' ? 'dark' : 'light',
    })
    const { page } = visit
    if (hasOwner) {
      await page.goto('/dashboard/sign-in')
      await page.getByLabel('Email').fill(OWNER.email)
      await page.getByLabel('Password').fill(OWNER.password)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    } else {
      await signUpOwner(page, gatehouse.key)
      hasOwner = true
    }
    for (const picture of PICTURES) {
      if (values.only !== undefined && picture.name !== values.only) continue
      if (look === 'phone' && picture.isOnPhone !== true) continue
      await page.goto(`/dashboard${picture.path}`)
      await picture.prepare?.(page)
      // Charts draw themselves in; what loads has loaded when the network is quiet.
      await page.waitForLoadState('networkidle').catch(() => {})
      await page.waitForTimeout(700)
      await page.screenshot({ path: join(values.out, `${picture.name}-${look}.png`) })
      shrink(join(values.out, `${picture.name}-${look}.png`))
      console.log(`${picture.name}-${look}.png`)
    }
    for (const complaint of visit.complaints) console.log(`  complaint: ${complaint}`)
    await visit.close()
  }
} finally {
  await browser.close()
  await gatehouse.remove()
  await folder.remove()
}
