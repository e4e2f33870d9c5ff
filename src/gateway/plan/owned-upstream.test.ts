import { expect, test } from 'bun:test'
import type { OwnedModel, ServerTraits } from '../../core/owned-model.ts'
import { FIM_TEMPLATES } from '../../providers/owned.ts'
import { traitsOf } from './compile-target.ts'
import { toOwnedUpstream } from './owned-upstream.ts'

const ADDRESS = 'https://coder.test/v1'

function shapeOf(set: Partial<OwnedModel>, found?: ServerTraits) {
  const probe =
    found === undefined ? null : { status: 'reachable' as const, checkedAt: 1, latencyMs: 1, found }
  const model = {
    slug: 'coder',
    dialect: 'mistral-fim',
    baseUrl: ADDRESS,
    upstreamModelId: 'mine',
    credentialHeader: 'auto',
    fimEndpoint: 'auto',
    fimTemplate: 'auto',
    ...set,
    probe,
  } as OwnedModel
  const { provider } = toOwnedUpstream(model, undefined)
  const [[dialect, endpoint] = []] = Object.entries(provider.endpoints)
  return {
    dialect,
    url: provider.baseUrl + endpoint?.path,
    template: traitsOf(provider, model.upstreamModelId).fimTemplate,
  }
}

test.each<[string, Partial<OwnedModel>, ServerTraits | undefined, object]>([
  ['nothing', {}, undefined, { dialect: 'mistral-fim', url: `${ADDRESS}/fim/completions` }],
  [
    'what was found',
    {},
    { fimEndpoint: 'infill' },
    { dialect: 'infill', url: 'https://coder.test/infill' },
  ],
  [
    'what is set, before what was found',
    { fimEndpoint: 'completions-suffix' },
    { fimEndpoint: 'infill' },
    { dialect: 'completions-suffix', url: `${ADDRESS}/completions` },
  ],
  [
    'the model’s name',
    { upstreamModelId: 'codellama:7b-code' },
    { fimEndpoint: 'completions-template' },
    {
      dialect: 'completions-template',
      url: `${ADDRESS}/completions`,
      template: FIM_TEMPLATES.codellama,
    },
  ],
  [
    'the family that is set, before the name',
    { upstreamModelId: 'codellama:7b-code', fimTemplate: 'qwen-coder' },
    { fimEndpoint: 'completions-template' },
    { dialect: 'completions-template', template: FIM_TEMPLATES['qwen-coder'] },
  ],
  [
    'a form that nothing can be written in any more',
    {},
    { fimEndpoint: 'completions-template' },
    { dialect: 'mistral-fim', url: `${ADDRESS}/fim/completions` },
  ],
])('known: %s', (_, set, found, shape) => {
  expect(shapeOf(set, found)).toMatchObject(shape)
})
