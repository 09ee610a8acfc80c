import * as v from 'valibot';
import { parseColour } from '../base/colour.ts';
import { beside } from '../base/operator-files.ts';
import { type BrandColour, brandColours } from '../config/brand-colour.ts';
import { BRAND_NAME_CHARS_MAX, isBrandName, isMailAddress } from '../config/brand-settings.ts';
import { type Config, ConfigError } from '../config/config.ts';
import { jsonObjectOf } from '../config/setting-file.ts';

/** The entry of one app in `BRANDS`; a null `logo` means no logo at all. */
export interface BrandEntry {
  readonly name?: string | undefined;
  readonly logo?: string | null | undefined;
  readonly color?: BrandColour | undefined;
  readonly support?: string | undefined;
}

const colour = v.pipe(
  v.union([v.string(), v.tuple([v.string(), v.string()])], 'color must be #rrggbb, or two of them'),
  v.rawTransform<string | [string, string], BrandColour>(({ dataset, addIssue, NEVER }) => {
    const [light, dark] = [dataset.value].flat().map(parseColour);
    const found = light && (dark || typeof dataset.value === 'string') ? brandColours(light, dark) : undefined;
    if (found && !found.fault) return found;
    addIssue({ message: `color ${found?.fault?.problem ?? 'must be #rrggbb, or two of them'}` });
    return NEVER;
  }),
);

const ENTRY = v.strictObject(
  {
    name: v.optional(
      v.pipe(
        v.string('name must be text'),
        v.check(isBrandName, `name must have 1 to ${BRAND_NAME_CHARS_MAX} plain characters`),
      ),
    ),
    logo: v.optional(v.nullable(v.pipe(v.string('logo must be a path'), v.nonEmpty('logo must be a path')))),
    color: v.optional(colour),
    support: v.optional(
      v.pipe(v.string('support must be a mail address'), v.check(isMailAddress, 'support must be a mail address')),
    ),
  },
  'only name, logo, color and support are known',
);

/** The entries of the file by app. Throws `ConfigError` for the first fault, with the app that has it. */
export function readBrandsFile(
  text: string,
  { brands: path = '', apps }: Pick<Config, 'brands' | 'apps'>,
): Readonly<Record<string, BrandEntry>> {
  const file = jsonObjectOf(text, (trouble) => fault(`names a file that ${trouble}`));
  const entries: Record<string, BrandEntry> = {};
  for (const [app, given] of Object.entries(file)) {
    if (!apps.includes(app)) throw fault('names an app that is not in APPS');
    const entry = v.safeParse(ENTRY, given);
    if (!entry.success) throw fault(`is wrong for the app ${app}: ${entry.issues[0].message}`);
    const { logo } = entry.output;
    entries[app] = { ...entry.output, ...(typeof logo === 'string' ? { logo: beside(path, logo) } : {}) };
  }
  return entries;
}

function fault(problem: string): ConfigError {
  return new ConfigError([{ name: 'BRANDS', problem }]);
}
