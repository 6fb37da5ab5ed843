import { DescriptionList, DescriptionListDescription, DescriptionListGroup, DescriptionListTerm, Stack } from '@patternfly/react-core'
import { CodeText } from './CodeText'
import { rightOf, roleOf } from './right'

// NoRights says which right is missing, and has what an administrator applies to give it.
export function NoRights({ missing }: { missing: string }) {
  const right = rightOf(missing)
  if (!right) return <p className="tabard-breaks">The missing right is: {missing}. An administrator of the cluster can give it.</p>
  const rows = [
    ['Verb', right.verb],
    ['Resource', right.group ? `${right.resource}.${right.group}` : right.resource],
    ['Namespace', right.namespace ?? 'the whole cluster'],
  ]
  return (
    <Stack hasGutter className="tabard-start">
      <DescriptionList isHorizontal isCompact horizontalTermWidthModifier={{ default: '7rem' }} aria-label="The missing right">
        {rows.map(([term, value]) => (
          <DescriptionListGroup key={term}>
            <DescriptionListTerm>{term}</DescriptionListTerm>
            <DescriptionListDescription>{value}</DescriptionListDescription>
          </DescriptionListGroup>
        ))}
      </DescriptionList>
      <p>An administrator of the cluster can give it with this, and a binding of it to you:</p>
      <CodeText text={roleOf(right)} name="the Role" />
    </Stack>
  )
}
