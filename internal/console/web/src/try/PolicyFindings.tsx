import { Alert, Label, Stack, Title } from '@patternfly/react-core'
import ExclamationCircleIcon from '@patternfly/react-icons/dist/esm/icons/exclamation-circle-icon'
import ExclamationTriangleIcon from '@patternfly/react-icons/dist/esm/icons/exclamation-triangle-icon'
import { Caption, Table, Tbody, Td, Th, Thead, Tr } from '@patternfly/react-table'
import type { PolicyCheck, PolicyFinding } from '../api/types'
import { Command } from '../states/Command'
import { sentence } from '../states/words'

export function PolicyFindings({ check }: { check: PolicyCheck }) {
  return (
    <Stack hasGutter>
      <Title headingLevel="h2" tabIndex={-1} className="tabard-breaks">{sentence(check.sentence).replace(/\.$/, '')}</Title>
      {check.unusable && (
        <Alert variant="danger" isInline component="h3" title="There is no policy to look at"><p className="tabard-breaks">{sentence(check.unusable)}</p></Alert>
      )}
      {check.findings.length > 0 && <Findings findings={check.findings} />}
      {check.room && <p className="tabard-breaks">{sentence(check.room)}</p>}
      <Command command={check.command} />
    </Stack>
  )
}

function Findings({ findings }: { findings: PolicyFinding[] }) {
  return (
    <Table variant="compact" gridBreakPoint="grid-md" className="tabard-table">
      <Caption>What is wrong with the policy</Caption>
      <Thead><Tr><Th width={10}>Line</Th><Th width={15}>Column</Th><Th width={15}>Severity</Th><Th>What</Th></Tr></Thead>
      <Tbody>
        {findings.map((finding, n) => (
          <Tr key={n}>
            <Td dataLabel="Line">{finding.line}</Td>
            <Td dataLabel="Column">{finding.column}</Td>
            <Td dataLabel="Severity"><Severity severity={finding.severity} /></Td>
            <Td dataLabel="What" modifier="breakWord">
              {sentence(finding.message)}
              <div className="tabard-small">{finding.code}</div>
            </Td>
          </Tr>
        ))}
      </Tbody>
    </Table>
  )
}

function Severity({ severity }: { severity: string }) {
  if (severity === 'warning') return <Label isCompact color="orange" icon={<ExclamationTriangleIcon />}>Warning</Label>
  return <Label isCompact color="red" icon={<ExclamationCircleIcon />}>Error</Label>
}
