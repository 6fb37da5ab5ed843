import {
  DescriptionList, DescriptionListDescription, DescriptionListGroup, DescriptionListTerm, Stack, Title,
} from '@patternfly/react-core'
import { Caption, Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table'
import type { Chosen, Feature, Operator } from '../api/types'
import { supportInWords } from './words'

export function Overview({ operator }: { operator: Operator }) {
  const { chosen } = operator
  if (!chosen) return <p>Nothing is known of a version of this package.</p>
  return (
    <Stack hasGutter>
      <Title headingLevel="h2">Description</Title>
      {/* It is a stranger's text, and stays one: nothing in it is a link or a form. */}
      <p className="tabard-text">{chosen.description || 'The author gives no description.'}</p>
      <Title headingLevel="h2">In short</Title>
      <InShort operator={operator} chosen={chosen} />
      <Title headingLevel="h2">Features</Title>
      <Features chosen={chosen} />
    </Stack>
  )
}

function InShort({ operator, chosen }: { operator: Operator; chosen: Chosen }) {
  const rows: [string, string | undefined][] = [
    ['Provider', chosen.provider],
    ['Repository', chosen.repository?.startsWith('https://') ? chosen.repository : ''],
    ['Package', operator.package],
    ['Default channel', operator.defaultChannel],
    ['Categories', chosen.categories.join(', ')],
    ['Capabilities', chosen.capabilities],
    ['Install modes', chosen.installModes.join(', ')],
    ['Suggested namespace', operator.suggestedNamespace],
    ['Values it takes', chosen.values.join(', ')],
  ]
  return (
    <DescriptionList isHorizontal isCompact horizontalTermWidthModifier={{ default: '9rem' }}>
      {rows.map(([term, value]) => value && (
        <DescriptionListGroup key={term}>
          <DescriptionListTerm>{term}</DescriptionListTerm>
          <DescriptionListDescription className="tabard-breaks">{value}</DescriptionListDescription>
        </DescriptionListGroup>
      ))}
    </DescriptionList>
  )
}

function Features({ chosen }: { chosen: Chosen }) {
  if (!chosen.metadataKnown) return <p>Not known: the catalogue has no metadata of this version.</p>
  if (chosen.features.length === 0) return <p>The author states none.</p>
  return (
    <Table variant="compact" gridBreakPoint="grid-md" className="tabard-table">
      <Caption>What the version supports, and where that was read</Caption>
      <Thead><Tr><Th width={30}>Feature</Th><Th width={20}>Support</Th><Th width={50}>Read in</Th></Tr></Thead>
      <Tbody>{chosen.features.map((feature) => <OneFeature key={feature.name} feature={feature} />)}</Tbody>
    </Table>
  )
}

function OneFeature({ feature: { name, support, source } }: { feature: Feature }) {
  return (
    <Tr>
      <Th scope="row" dataLabel="Feature" modifier="breakWord">{name}</Th>
      <Td dataLabel="Support">{supportInWords(support)}</Td>
      <Td dataLabel="Read in" modifier="breakWord">{source ? <code>{source}</code> : 'Nowhere'}</Td>
    </Tr>
  )
}
