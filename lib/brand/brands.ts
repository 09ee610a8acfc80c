import type { OperatorFiles } from '../base/operator-files.ts';
import type { Clients } from '../clients/client.ts';
import type { BrandColour } from '../config/brand-colour.ts';
import { type Config, ConfigError } from '../config/config.ts';
import { readSettingFile } from '../config/setting-file.ts';
import { type BrandEntry, readBrandsFile } from './brands-file.ts';
import { LOGO_BYTES_MAX, type Logo, readLogo } from './logo.ts';

/** A service as people see it: on its pages, in its mails and in the dialogs of passkeys. */
export interface Brand {
  readonly name: string;
  /** The host of an app's own pages, by `CLIENTS`; undefined where it has none. */
  readonly site: string | undefined;
  readonly logo: Logo | undefined;
  /** Undefined for the pages' own colour. */
  readonly color: BrandColour | undefined;
  /** The mail address of support. */
  readonly support: string | undefined;
  /** Whether it is an app's own, by `BRANDS`. */
  readonly isOwn: boolean;
}

/** The brand of an app: its own, by `BRANDS`, or the operator's. */
export type BrandOf = (app: string) => Brand;

type BrandConfig = Pick<
  Config,
  'brandName' | 'brandLogo' | 'brandColor' | 'supportAddress' | 'brands' | 'apps' | 'baseUrl'
>;

/**
 * Reads the brands of the settings and the files that they name. Throws `ConfigError` for a file that is missing or
 * that cannot be used.
 */
export function createBrands(config: BrandConfig, files: OperatorFiles | undefined, clients?: Clients): BrandOf {
  const operators: Brand = {
    name: config.brandName,
    site: undefined,
    logo: config.brandLogo === undefined ? undefined : logoOf('BRAND_LOGO', config.brandLogo, files),
    color: config.brandColor,
    support: config.supportAddress,
    isOwn: false,
  };
  const own = new Map<string, Brand>();
  if (config.brands !== undefined) {
    const entries = readBrandsFile(textOf(config.brands, files), config);
    for (const [app, entry] of Object.entries(entries)) own.set(app, withEntry(operators, entry, files));
  }
  for (const { id, redirectUris } of clients?.values() ?? []) {
    const [uri] = redirectUris;
    if (uri !== undefined) own.set(id, { ...(own.get(id) ?? operators), site: new URL(uri).host });
  }
  return (app) => own.get(app) ?? operators;
}

/** The names of the service and of its apps. */
export function namesOf({ brandName, apps }: Pick<Config, 'brandName' | 'apps'>, brandOf: BrandOf): readonly string[] {
  return [...new Set([brandName, ...apps.flatMap((app) => [app, brandOf(app).name])])];
}

/** Values that an app's entry leaves out are the operator's. */
function withEntry(
  operators: Brand,
  { name, logo, color, support }: BrandEntry,
  files: OperatorFiles | undefined,
): Brand {
  return {
    name: name ?? operators.name,
    site: operators.site,
    logo: logo === undefined ? operators.logo : logo === null ? undefined : logoOf('BRANDS', logo, files),
    color: color ?? operators.color,
    support: support ?? operators.support,
    isOwn: true,
  };
}

function logoOf(name: 'BRAND_LOGO' | 'BRANDS', path: string, files: OperatorFiles | undefined): Logo {
  const what = name === 'BRANDS' ? 'names a file that' : 'is a file that';
  const logo = readLogo(readSettingFile({ name, path, what, maxBytes: LOGO_BYTES_MAX }, files));
  if ('problem' in logo) throw fault(name, name === 'BRANDS' ? `names a logo that ${logo.problem}` : logo.problem);
  return logo;
}

function textOf(path: string, files: OperatorFiles | undefined): string {
  return new TextDecoder().decode(readSettingFile({ name: 'BRANDS', path, maxBytes: BRANDS_BYTES_MAX }, files));
}

const BRANDS_BYTES_MAX = 256 * 1024;

function fault(name: 'BRAND_LOGO' | 'BRANDS', problem: string): ConfigError {
  return new ConfigError([{ name, problem }]);
}
