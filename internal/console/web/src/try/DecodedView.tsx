import {
  Alert, DescriptionList, DescriptionListDescription, DescriptionListGroup, DescriptionListTerm, List, ListComponent, ListItem, OrderType,
  Stack, Title,
} from '@patternfly/react-core'
import type { Decoded } from '../api/types'
import { Command } from '../states/Command'
import { sentence } from '../states/words'

const inputs: Record<string, string> = { error: 'an error', event: 'an event of CloudTrail', token: 'a token' }

export function decodedInWords({ input, link, linkName }: Decoded): string {
  if (input === 'unknown') return 'This is not known'
  const what = `This is ${inputs[input] ?? input}`
  return link ? `${what} about link ${link} ${linkName ?? ''}`.trim() : what
}

export function DecodedView({ decoded }: { decoded: Decoded }) {
  const { causes = [], next = [], facts = [], links = [] } = decoded
  const others = links.filter((link) => link !== decoded.link)
  return (
    <Stack hasGutter>
      <Title headingLevel="h2" tabIndex={-1} className="tabard-breaks">{decodedInWords(decoded)}</Title>
      {decoded.input === 'unknown' && <Unknown />}
      {decoded.seen && <p className="tabard-breaks">Recognized: <q>{decoded.seen}</q></p>}
      {decoded.means && <p className="tabard-breaks">{sentence(decoded.means)}</p>}
      {others.length > 0 && <p>It may also be about {others.join(', ')}.</p>}
      {decoded.unverified && <p>This text is known from reports. No test of Tabard provokes it.</p>}
      {causes.length > 0 && (
        <>
          <Title headingLevel="h3">Causes, the likeliest first</Title>
          <List component={ListComponent.ol} type={OrderType.number}>
            {causes.map((cause) => <ListItem key={cause} className="tabard-breaks">{sentence(cause)}</ListItem>)}
          </List>
        </>
      )}
      {next.length > 0 && <Title headingLevel="h3">What to do next</Title>}
      {next.map((command, n) => <Command key={command} label={n === 0 ? 'Type' : 'Then type'} command={command} />)}
      {facts.length > 0 && <Facts decoded={decoded} />}
      <Command command={decoded.command} />
    </Stack>
  )
}

function Unknown() {
  return (
    <Alert variant="info" isInline component="h3" title="No error of the chain has these words">
      <p>Paste the whole message, from its first word on. To see what is wrong with a pod, open it under Workloads.</p>
    </Alert>
  )
}

function Facts({ decoded: { input, facts = [] } }: { decoded: Decoded }) {
  return (
    <>
      <Title headingLevel="h3">What it names</Title>
      {input === 'token' && <p>The token itself is not shown.</p>}
      <DescriptionList isHorizontal isCompact horizontalTermWidthModifier={{ default: '9rem' }} aria-label="What it names">
        {facts.map(({ name, value }, n) => (
          <DescriptionListGroup key={n}>
            <DescriptionListTerm>{name}</DescriptionListTerm>
            <DescriptionListDescription className="tabard-breaks">{value}</DescriptionListDescription>
          </DescriptionListGroup>
        ))}
      </DescriptionList>
    </>
  )
}
