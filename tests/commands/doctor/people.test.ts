import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pay from '../../../assets/words/en/pay.json';
import { readConfig } from '../../../lib/config/config.ts';
import { runChecks } from '../../../lib/doctor/finding.ts';
import { peopleChecks } from '../../../lib/doctor/people.ts';
import { SVG } from '../../support/brand.ts';
import { testClock } from '../../support/clock.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { examinedOf } from '../../support/doctor.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());
const at = (name: string) => join(folder.path, name);
/** No check ends by its time here: reading all words takes long beside busy programs. */
const check = async (vars: Record<string, string>) =>
  (await runChecks(testClock(), peopleChecks(examinedOf(readConfig({ VAULT_SECRET, ...vars }))))).map(
    ({ state, text }) => `${state} ${text}`,
  );

describe('vault doctor, of what people see', () => {
  test('says nothing where no file is named', async () => {
    expect(await check({ BRAND_NAME: 'Tea House' })).toEqual([]);
  });

  test('says that the files of a brand can be used, or what is wrong', async () => {
    writeFileSync(at('logo.svg'), SVG);
    expect(await check({ BRAND_LOGO: at('logo.svg') })).toEqual(['ok the files of BRAND_LOGO and BRANDS can be used']);
    expect(await check({ BRAND_LOGO: at('none.svg') })).toEqual([
      expect.stringContaining('fail BRAND_LOGO is a file that does not exist'),
    ]);
  });

  test('names the texts that are not used, as a place or an id is wrong, and how much a language of its own has', async () => {
    mkdirSync(at('de'));
    mkdirSync(at('pt-BR'));
    writeFileSync(
      at('de/mail.json'),
      JSON.stringify({ support: 'Hilfe: {phone}', 'code.entre': 'Hier', 'code.ignore': 'Nein' }),
    );
    writeFileSync(at('pt-BR/pay.json'), JSON.stringify({ cancel: 'Cancelar', cancell: 'Cancelar' }));
    expect(await check({ WORDS_DIR: folder.path })).toEqual([
      'warn texts of WORDS_DIR that are not used: mail.json, de: support; mail.json, de: code.entre; pay.json, pt-BR: cancell',
      `warn pt-BR/pay.json has 1 of ${Object.keys(pay).length} texts; the others are English`,
    ]);
  });

  test('says nothing of what German, a variety of it, or a whole language lacks: none of that is English', async () => {
    for (const language of ['de', 'de-AT', 'ar']) mkdirSync(at(language));
    const some = JSON.stringify({ cancel: 'Nein', 'review.pay_sum': '{sum} {payee}' });
    for (const language of ['de', 'de-AT']) writeFileSync(at(`${language}/pay.json`), some);
    writeFileSync(at('ar/pay.json'), JSON.stringify(pay));
    expect(await check({ WORDS_DIR: folder.path })).toEqual([
      'ok all texts of WORDS_DIR are used, and no language lacks one',
    ]);
  });
});
