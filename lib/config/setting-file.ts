import type { OperatorFiles } from '../base/operator-files.ts';
import { ConfigError, type SettingName } from './config.ts';

/** A file that a setting names. */
export interface SettingFile {
  readonly name: SettingName;
  readonly path: string;
  readonly maxBytes: number;
  /** The words before the fault; `names a file that` if absent. */
  readonly what?: string;
}

/** The bytes of the file. Throws `ConfigError` where it is missing, too large, or cannot be read. */
export function readSettingFile(file: SettingFile, files: OperatorFiles | undefined): Uint8Array {
  const { name, path, maxBytes, what = 'names a file that' } = file;
  const fault = (problem: string) => new ConfigError([{ name, problem }]);
  if (!files) throw fault('needs a host that reads files (env.operatorFiles)');
  let bytes: Uint8Array | undefined;
  try {
    bytes = files.read(path, maxBytes);
  } catch (error) {
    throw fault(`${what} cannot be read: ${error instanceof Error ? error.message : 'it failed'}`);
  }
  if (!bytes) throw fault(`${what} does not exist`);
  return bytes;
}
