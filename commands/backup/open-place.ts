import type { Config } from '../../lib/config/config.ts';
import { UsageError } from '../cli/arguments.ts';
import { openFolder } from './folder-place.ts';
import type { BackupPlace } from './place.ts';

/** The place that `--to` or `--from` names: the path of a folder, or `s3://BUCKET/PREFIX`. Throws `UsageError`. */
export async function openPlace(text: string, config: Config, draftFolder: string): Promise<BackupPlace> {
  if (!/^\w+:\/\//.test(text)) return openFolder(text);
  const { openBucket, readBucketUrl } = await import('./bucket-place.ts');
  const bucket = readBucketUrl(text);
  const { backupS3AccessKeyId: accessKeyId, backupS3SecretAccessKey: secretAccessKey } = config;
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new UsageError(`${text} needs BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY.`);
  const { backupS3Endpoint: endpoint } = config;
  const region = regionOf(endpoint);
  return openBucket({ ...bucket, endpoint, region, accessKeyId, secretAccessKey, draftFolder });
}

/** The region of Amazon's endpoint is in its host. Other services take a name from `AWS_REGION`, most of them any. */
function regionOf(endpoint: string): string {
  const { hostname } = new URL(endpoint);
  const [, region] = /^s3\.(?:dualstack\.)?([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?$/.exec(hostname) ?? [];
  return region ?? process.env['AWS_REGION'] ?? 'us-east-1';
}
