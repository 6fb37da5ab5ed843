import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// licences writes licences.txt: what the licence of each package asks for whose code or style is in the bundle.
export function licences() {
  return {
    name: 'licences',
    generateBundle(_options, bundle) {
      const homes = new Set()
      for (const chunk of Object.values(bundle)) {
        for (const [id, { renderedLength }] of Object.entries(chunk.modules ?? {})) {
          const path = id.replace(/^\0/, '').split('?')[0]
          // Styles have been taken out of the script, so nothing of them is rendered there.
          if (path.includes('/node_modules/') && (renderedLength > 0 || path.endsWith('.css'))) homes.add(homeOf(path))
        }
      }
      const texts = [...homes].filter(Boolean).sort().map(licenceOf)
      if (Object.keys(bundle).some((name) => /RedHat.*\.woff2$/.test(name))) texts.push(fonts())
      this.emitFile({ type: 'asset', fileName: 'licences.txt', source: texts.join(`\n${'-'.repeat(72)}\n\n`) })
    },
  }
}

// homeOf is the directory of the package that a file is of: the nearest one whose package.json has a name and a version.
function homeOf(path) {
  for (let dir = dirname(path); dir.includes('/node_modules/'); dir = dirname(dir)) {
    const file = join(dir, 'package.json')
    if (!existsSync(file)) continue
    const { name, version } = JSON.parse(readFileSync(file, 'utf8'))
    if (name && version) return dir
  }
  return undefined
}

// fonts is the licence of the fonts that come with PatternFly, whose packages do not have it.
function fonts() {
  const text = readFileSync(fileURLToPath(new URL('RedHatFonts.txt', import.meta.url)), 'utf8').trim()
  return ['Red Hat Display, Red Hat Text, Red Hat Mono (fonts)', 'Licence: OFL-1.1', '', text, ''].join('\n')
}

// licencesIn are the files with licences of a directory.
function licencesIn(dir) {
  return readdirSync(dir).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file)).sort().map((file) => join(dir, file))
}

// within are the licences of what a package has copied from others, in directories below it.
function within(dir) {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name === 'thirdparty')
    .flatMap((entry) => readdirSync(join(entry.parentPath, entry.name), { withFileTypes: true }).map((below) => join(entry.parentPath, entry.name, below.name)))
    .filter((path) => path.includes('/src/') && statSync(path).isDirectory())
    .flatMap(licencesIn)
}

function licenceOf(dir) {
  const { name, version, license } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'))
  if (!license) throw new Error(`${name} ${version} does not say its licence`)
  const texts = [...licencesIn(dir), ...within(dir)].map((file) => readFileSync(file, 'utf8').trim())
  return [`${name} ${version}`, `Licence: ${license}`, '', ...texts, ''].join('\n')
}
