import { DescriptionList, DescriptionListDescription, DescriptionListGroup, DescriptionListTerm, Title } from '@patternfly/react-core'
import type { InstallDetail } from '../api/types'

export function RoleAndValues({ install: { role, values } }: { install: InstallDetail }) {
  const rows = Object.entries(values)
  return (
    <>
      <Title headingLevel="h2">Role</Title>
      <p className="tabard-breaks">{role ? `The operator takes the role ${role}.` : 'The operator has no role.'}</p>
      {rows.length > 0 && (
        <DescriptionList isCompact aria-label="Values that the operator gets">
          {rows.map(([name, value]) => (
            <DescriptionListGroup key={name}>
              <DescriptionListTerm>{name}</DescriptionListTerm>
              <DescriptionListDescription className="tabard-breaks">{value}</DescriptionListDescription>
            </DescriptionListGroup>
          ))}
        </DescriptionList>
      )}
    </>
  )
}
