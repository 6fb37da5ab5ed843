import { Stack, Title } from '@patternfly/react-core'
import { Caption, Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table'
import type { Channel, Operator, VersionDetail } from '../api/types'
import { ChannelGraph } from './ChannelGraph'
import { Compare } from './Compare'
import { VersionName } from './VersionName'
import { askedInWords } from './words'

export function VersionsTab({ operator }: { operator: Operator }) {
  return (
    <Stack hasGutter>
      <Title headingLevel="h2">Compare two versions</Title>
      <Compare operator={operator} />
      <Title headingLevel="h2">Channels</Title>
      <Channels operator={operator} />
      <Title headingLevel="h2">Upgrades in a channel</Title>
      <ChannelGraph operator={operator} />
      <Title headingLevel="h2">Versions</Title>
      <Versions operator={operator} />
    </Stack>
  )
}

function Channels({ operator }: { operator: Operator }) {
  return (
    <Table variant="compact" gridBreakPoint="grid-md" className="tabard-table">
      <Caption>Channels, with the version that a new install takes</Caption>
      <Thead><Tr><Th>Channel</Th><Th>Newest version</Th><Th>Entries</Th><Th>State</Th></Tr></Thead>
      <Tbody>
        {operator.channels.map((channel) => (
          <Tr key={channel.name}>
            <Th scope="row" dataLabel="Channel" modifier="breakWord">
              {channel.name}{channel.name === operator.defaultChannel && ' (default)'}
            </Th>
            <Td dataLabel="Newest version" modifier="breakWord">{channel.head ?? 'Not known'}</Td>
            <Td dataLabel="Entries">{channel.entries}</Td>
            <Td dataLabel="State" modifier="breakWord">{stateOf(channel)}</Td>
          </Tr>
        ))}
      </Tbody>
    </Table>
  )
}

function stateOf({ invalid, deprecated }: Channel): string {
  const text = [invalid && 'Not valid: it has not one newest version', deprecated && `Deprecated: ${deprecated}`]
  return text.filter(Boolean).join('; ') || 'Good'
}

function Versions({ operator }: { operator: Operator }) {
  return (
    <Table variant="compact" gridBreakPoint="grid-lg" className="tabard-table">
      <Caption>Versions, and from where each upgrades</Caption>
      <Thead>
        <Tr><Th width={25}>Version</Th><Th width={15}>Channels</Th><Th width={30}>Upgrades from</Th><Th width={15}>Permissions</Th><Th width={15}>State</Th></Tr>
      </Thead>
      <Tbody>
        {operator.versions.map((version) => <OneVersion key={version.csv} version={version} isChosen={version.csv === operator.chosen?.csv} none={noneOf(operator, version)} />)}
      </Tbody>
    </Table>
  )
}

// A channel without a graph is one of which the source does not tell the upgrades.
function noneOf({ channels }: Operator, { channels: own }: VersionDetail): string {
  return channels.some(({ name, graph }) => !graph && own.includes(name)) ? 'Not known' : 'Nothing'
}

interface OneProps { version: VersionDetail; isChosen: boolean; none: string }

function OneVersion({ version, isChosen, none }: OneProps) {
  return (
    <Tr>
      <Th scope="row" dataLabel="Version" modifier="breakWord">
        <VersionName version={version} isChosen={isChosen} />
        <div className="tabard-small">{version.csv}</div>
      </Th>
      <Td dataLabel="Channels" modifier="breakWord">{version.channels.join(', ')}</Td>
      <Td dataLabel="Upgrades from" modifier="breakWord">{version.upgradesFrom.join(', ') || none}</Td>
      <Td dataLabel="Permissions" modifier="breakWord">{askedInWords(version.permissions)}</Td>
      <Td dataLabel="State" modifier="breakWord">{version.deprecated ? `Deprecated: ${version.deprecated}` : 'Good'}</Td>
    </Tr>
  )
}
