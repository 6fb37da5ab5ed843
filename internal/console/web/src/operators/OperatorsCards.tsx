import type { ReactNode } from 'react'
import {
  Card, CardBody, CardTitle, DescriptionList, DescriptionListDescription, DescriptionListGroup, DescriptionListTerm, Gallery, GalleryItem, Title,
} from '@patternfly/react-core'
import type { Operators, Row } from '../api/types'
import { CloudLabels } from './CloudLabels'
import { NameLink, State, Version, Whence } from './facts'
import { askedInWords } from './words'

interface Props { data: Operators; without: string }

export function OperatorsCards({ data, without }: Props) {
  return (
    // Safari takes a list without bullets for none, unless it has the role.
    <Gallery hasGutter component="ul" role="list" aria-label="Operators of the catalogues">
      {data.items.map((row) => (
        <GalleryItem key={row.id} component="li"><OneCard row={row} cloud={data.cloud} without={without} /></GalleryItem>
      ))}
    </Gallery>
  )
}

function OneCard({ row, cloud, without }: { row: Row; cloud?: string; without: string }) {
  return (
    <Card isCompact isFullHeight className="tabard-breaks">
      <CardTitle>
        <Title headingLevel="h2" size="md"><NameLink row={row} /></Title>
        <Whence row={row} />
      </CardTitle>
      <CardBody>
        <DescriptionList isCompact columnModifier={{ default: '2Col' }}>
          <Fact name="Token login"><CloudLabels row={row} cloud={cloud} /></Fact>
          <Fact name="Version"><Version row={row} /></Fact>
          <Fact name="Permissions">{askedInWords(row.permissions)}</Fact>
          {(without || row.installed?.length || row.deprecated) && <Fact name="State"><State row={row} without={without} /></Fact>}
        </DescriptionList>
      </CardBody>
    </Card>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <DescriptionListGroup>
      <DescriptionListTerm>{name}</DescriptionListTerm>
      <DescriptionListDescription>{children}</DescriptionListDescription>
    </DescriptionListGroup>
  )
}
