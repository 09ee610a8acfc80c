import { findContradictions, type SettingWarning } from '../../lib/config/contradictions.ts';
import { findNearMisses } from '../../lib/config/near-misses.ts';
import { UsageError } from '../cli/arguments.ts';
import type { Settings } from './settings.ts';
import { isByPerson } from './vars.ts';

/**
 * Warnings on the settings: names of the environment that are near a setting's, and settings that contradict each
 * other. Loaded after the first answer of `vault serve`.
 */
export function findWarnings(
  { config, sources }: Pick<Settings, 'config' | 'sources'>,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): readonly SettingWarning[] {
  const isGiven = (name: string) => isByPerson(sources[name]);
  return [...findNearMisses(Object.keys(environment)), ...findContradictions(config, isGiven)];
}

/** A warning as one line. */
export function describeWarning({ name, problem, remedy }: SettingWarning): string {
  return `${name} ${problem}: ${remedy}`;
}

/** An error of settings that cannot be used, with the names that may have been meant for those that lack. */
export function withNearMisses(
  error: unknown,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): unknown {
  const near = error instanceof UsageError ? findNearMisses(Object.keys(environment)) : [];
  if (!(error instanceof UsageError) || near.length === 0) return error;
  return new UsageError([error.message, ...near.map((one) => `  ${describeWarning(one)}`)].join('\n'));
}
