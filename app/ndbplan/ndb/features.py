"""What a version of the product does: every difference between versions that is known, as plain values.

    features(version).hash_map_buckets        # 240 before 7.2, then 3840

The data is `resources/ndb/features.json`, where each row says what it means and where it was read. Another
version of the product needs rows there, and nowhere else a comparison of versions.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, NamedTuple

from ndbplan.base.resources import read_json
from ndbplan.ndb.version import FEATURES_FILE, NdbVersion, release


class Features(NamedTuple):
    """The values of one version; the rows of the data tell what they mean."""

    multithreaded_node: bool
    config_cache: bool
    memory_usage_report: bool
    add_nodes_online: bool
    ndbinfo: bool
    max_rows_online: bool
    algorithm_inplace: bool
    pool_node_ids: bool
    mysqld_notifies_systemd: bool
    mysqld_initialises: bool
    tablespace_engine_named: bool
    initial_start_keeps_disk_data: bool
    stored_grants_restored: bool
    statistics_lack_event: bool
    backup_password_from_stdin: bool
    mysqld_upgrades_itself: bool
    sql_offline_mode: bool
    binlog_needs_server_id: bool
    x_plugin: bool
    upgraded_from: str
    kubernetes_operator: bool
    data_nodes_most: int
    node_groups_most: int
    replicas_most_tested: int
    reserved_nodes_counted: bool
    lenient_numbers: bool
    ipv6: bool
    ipv6_loopback_is_local: bool
    management_ports_compared: bool
    sql_hosts_resolved: bool
    connected_by_pair: bool
    deprecated_pairs: bool
    thread_counts_at_least: bool
    thread_config_comma_at_end: bool
    cpu_lists_with_gaps: bool
    second_link_refused: bool
    data_node_ids_checked: bool
    shared_memory: bool
    dml_operations_compared: bool
    settings_lifted: bool
    dictionary_of_system: int
    attributes_of_system: int
    ordered_indexes_of_system: int
    thread_config: bool
    execution_threads_most: int
    thread_counts_of_8: bool
    thread_types_of_8: bool
    index_build_threads: bool
    exclusive_bindings: bool
    nosend: bool
    ldm_counts: tuple[int, ...]
    ldm_share_log_parts: bool
    automatic_threads: bool
    fragment_log_parts: bool
    job_buffer_pages_own: int
    job_buffers_pooled: bool
    hash_maps: bool
    hash_map_buckets: int
    large_hash_map: bool
    partitions_most: int
    partition_balance: bool
    placement_by_table: bool
    unique_index_follows_table: bool
    read_backup: bool
    read_backup_by_default: bool
    blobs_are_reorganised: bool
    reorganise_batches: bool
    fractional_seconds: bool
    blob_parts_by_length: bool
    blob_inline_by_comment: bool
    blob_parts_by_comment: bool
    blob_part_bytes_most: int
    blob_parts_kept_in_row: bool
    row_words_most: int
    name_bytes_most: int
    columns_most: int
    timestamp_nullable: bool
    zero_dates_refused: bool
    floats_count: bool
    default_charset: str
    utf8mb4_collation: str
    padded_with_space: bool
    index_memory_joined: bool
    fixed_part_limit_bytes: int
    fragments_of_table_in_ldm: int
    stop_aborts_transactions: bool
    transaction_memory: bool
    redo_buffer_of_log_part: bool
    send_overallocation_bounded: bool
    redo_log_least_share: float
    redo_log_usual_share: float
    redo_device_factor_of_2010: bool
    redo_spans_two_lcps: bool
    redo_files_sparse: bool
    gcp_save_limit_by_epochs: bool
    lcp_share_of_buffered_writes: bool
    checkpoint_speed_by_parameters: bool
    memory_touched_by_threads: bool
    restore_without_delays: bool
    parallel_copy: bool
    restart_under_traffic: bool
    partial_checkpoints: bool
    two_pass_copy: bool
    redo_control: bool
    measured_on_8_4: bool
    redo_problems_queued: bool
    redo_lag_at_once: bool
    redo_log_keeps_more: bool
    replicas_refuse_apart: bool
    file_end_refused_at_once: bool
    lcp_speed_steps_up: int
    lcp_speed_steps_down: int
    lcp_flushes_before: int
    pages_cleaned_at_once: int
    lcp_speed_begins_lowest: bool
    backup_share: bool
    multithreaded_backup: bool
    data_files_by_many_threads: bool


@cache
def rows() -> dict[str, dict[str, Any]]:
    """The rows of the data, by name, in file order."""
    return {row["name"]: row for row in read_json(FEATURES_FILE)["features"]}


@lru_cache(maxsize=256)
def features(version: NdbVersion) -> Features:
    """What a version does; one object for each version."""
    by_name: dict[str, Any] = {}
    for name, row in rows().items():
        values = list(row["values"].items())
        value = next((v for since, v in reversed(values) if release(since) <= version), values[0][1])
        by_name[name] = tuple(value) if isinstance(value, list) else value
    return Features(**by_name)
