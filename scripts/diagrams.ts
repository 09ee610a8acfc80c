// bun scripts/diagrams.ts: draws the diagrams of docs/images. Run it when one changes; the files are committed.
import { join } from 'node:path';
import { DIAGRAMS } from './diagrams/all.ts';
import { drawSequence } from './diagrams/sequence.ts';

for (const [name, diagram] of Object.entries(DIAGRAMS)) {
  const size = await Bun.write(join(import.meta.dir, '../docs/images', name), drawSequence(diagram));
  console.log(`docs/images/${name}  ${size} bytes`);
}
