/** The address and the access of Vertex AI, the same for every publisher of models on it. */
import type { ComposedAddress, Provider } from './define.ts'

/** Matches base addresses of one region or of several, which is every location but the global one. */
export const REGIONAL = /\/locations\/(?!global(?:\/|$))/

/** @param publisher the vendor of the models, as Google spells it in the path */
export function vertexAddress(publisher: string) {
  const path = `/v1/projects/{project}/locations/{location}/publishers/${publisher}`
  return {
    keyVariable: 'VERTEX_API_KEY',
    signing: { type: 'google', scope: 'https://www.googleapis.com/auth/cloud-platform' },
    composedBaseUrl: {
      parts: {
        project: { variable: 'VERTEX_PROJECT' },
        location: { variable: 'VERTEX_LOCATION', fallback: 'global' },
      },
      choosing: 'location',
      // https://cloud.google.com/vertex-ai/generative-ai/docs/learn/locations: the two multi-regions have a host of their own form.
      templates: [
        [/^global$/, `https://aiplatform.googleapis.com${path}`],
        [/^(?:us|eu)$/, `https://aiplatform.{location}.rep.googleapis.com${path}`],
        [/./, `https://{location}-aiplatform.googleapis.com${path}`],
      ],
    } satisfies ComposedAddress,
  } as const satisfies Partial<Provider>
}
