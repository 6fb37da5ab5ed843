import { useRef, useState } from 'react'
import { DescriptionList, DescriptionListDescription, DescriptionListGroup, DescriptionListTerm, Stack, Title } from '@patternfly/react-core'
import type { InstallDetail } from '../api/types'
import { clouds, ownFirst } from '../roles/fields'
import { WriteButton } from '../states/WriteButton'
import { ChangeRole } from './ChangeRole'

export function RoleAndValues({ install }: { install: InstallDetail }) {
  const { role, values } = install
  const [isOpen, setOpen] = useState(false)
  const place = useRef<HTMLDivElement>(null)
  const close = () => {
    setOpen(false)
    // What had the focus is gone with the form.
    setTimeout(() => place.current?.querySelector('h2')?.focus())
  }
  return (
    <div ref={place}>
      <Stack hasGutter>
        <Title headingLevel="h2" tabIndex={-1}>Role</Title>
        <p className="tabard-breaks">{role ? `The operator takes the role ${role}.` : 'The operator has no role.'}</p>
        <Values values={values} />
        {isOpen
          ? <ChangeRole install={install} offered={ownFirst([...clouds], cloudOf(values))} onDone={close} />
          : <WriteButton variant="secondary" onClick={() => setOpen(true)}>Change role</WriteButton>}
      </Stack>
    </div>
  )
}

// cloudOf is the cloud of the role that the operator has.
function cloudOf(values: InstallDetail['values']): string | undefined {
  if ('ROLEARN' in values) return 'aws'
  if ('CLIENTID' in values) return 'azure'
  return 'AUDIENCE' in values || 'SERVICE_ACCOUNT_EMAIL' in values ? 'gcp' : undefined
}

function Values({ values }: { values: InstallDetail['values'] }) {
  const rows = Object.entries(values)
  if (rows.length === 0) return null
  return (
    <DescriptionList isCompact aria-label="Values that the operator gets">
      {rows.map(([name, value]) => (
        <DescriptionListGroup key={name}>
          <DescriptionListTerm>{name}</DescriptionListTerm>
          <DescriptionListDescription className="tabard-breaks">{value}</DescriptionListDescription>
        </DescriptionListGroup>
      ))}
    </DescriptionList>
  )
}
