import { describe, expect, test } from 'bun:test'
import { dashboardLayerFaults } from './dashboard-layers.ts'

const PAGE = 'web/features/gates/gates-page.tsx'

describe('a file of the dashboard may import', () => {
  test('packages, the contract, and folders below its own', () => {
    const source = `
      import { useQuery } from '@tanstack/react-query'
      import type { Schemas } from '../../../src/contract/api.generated.ts'
      import { Button } from '../../ui/button.tsx'
      import { rows } from './rows.ts'`
    expect(dashboardLayerFaults(PAGE, source)).toEqual([])
  })

  test.each([
    ['another feature', "import { x } from '../logs/logs-page.tsx'"],
    [
      'another feature that is fetched later',
      "const x = lazy(() => import('../logs/logs-page.tsx'))",
    ],
    ['another feature’s types', "import type { X } from '../logs/rows.ts'"],
    ['the router', "import { router } from '../../app/router.tsx'"],
    ['the server', "import { x } from '../../../src/core/ids.ts'"],
    ['the tests', "export { x } from '../../../test/support/x.ts'"],
  ])('not %s', (_, source) => {
    expect(dashboardLayerFaults(PAGE, source)).toHaveLength(1)
  })

  test('in a test, the reason for a skip, and nothing else from outside', () => {
    const source = "import { testIf } from '../../../test/support/skip-unless.ts'"
    expect(dashboardLayerFaults('web/features/gates/rows.test.ts', source)).toEqual([])
    expect(dashboardLayerFaults(PAGE, source)).toHaveLength(1)
  })

  test('nothing in a folder missing from the table', () => {
    expect(dashboardLayerFaults('web/stuff/x.ts', '')).toHaveLength(1)
  })
})
