import { Card, CardHeader } from '../../ui/card.tsx'
import { SnippetTabs } from '../../ui/code-block.tsx'

export function UseInGate({ slug }: { readonly slug: string }) {
  const target = `owned/${slug}`
  const body = JSON.stringify({ id: `${slug}-gate`, targets: [{ model: target }] })
  const snippets = [
    { name: 'Target', code: target },
    { name: 'Command line', code: `gatehouse gates create ${slug}-gate --target ${target}` },
    {
      name: 'curl',
      code: [
        `curl ${location.origin}/v1/gates \\`,
        '  -H "Authorization: Bearer $GATEHOUSE_API_KEY" \\',
        '  -H "Content-Type: application/json" \\',
        `  -d '${body}'`,
      ].join('\n'),
    },
  ]
  return (
    <Card>
      <CardHeader title="Use it in a gate" note="Alone, or beside other targets." />
      <div className="p-5">
        <SnippetTabs snippets={snippets} label={`How to use ${target}`} />
      </div>
    </Card>
  )
}
