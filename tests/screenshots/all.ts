// npm run screenshots: takes every picture of the documents again, one world after the other, and says what they weigh.
// npm run screenshots -- FOLDER [WORD]: every screen, for the eyes, as tests/screenshots/screens.ts does.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const IMAGES = join(import.meta.dir, '../../docs/images');
const SCRIPTS = ['landing', 'authorize', 'account', 'pay', 'approve', 'shop', 'console'];

const GIVEN = process.argv.slice(2);

for (const name of GIVEN.length > 0 ? ['screens'] : SCRIPTS) {
  console.log(`${name} …`);
  const { exited } = Bun.spawn([process.execPath, join(import.meta.dir, `${name}.ts`), ...GIVEN], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if ((await exited) !== 0) process.exit(1);
}
if (GIVEN.length > 0) process.exit();
const sum = readdirSync(IMAGES).reduce((total, name) => total + statSync(join(IMAGES, name)).size, 0);
console.log(`docs/images  ${(sum / 1000).toFixed(1)} KB`);
