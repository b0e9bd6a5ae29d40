# Nodes of NoNoncense 2, by the operations that were recorded from it (tests/vectors/08_leases.json), over a socket of Redis,
# PostgreSQL, MySQL or MariaDB: each leases the lowest free machine ID, holds it for a moment, renews it, releases it. Prints one line a lease:
# machine ID, from and until when it was held, in microseconds since 1970.
#
#   elixir nononcense.exs redis <host> <port> <hash> <nodes> <leases each>
#   elixir nononcense.exs postgres <host> <port> <user> <database> <schema> <nodes> <leases each>
#   elixir nononcense.exs mysql <host> <port> <user> <database> <nodes> <leases each>

defmodule Redis do
  def open([host, port, hash]) do
    {:ok, socket} = :gen_tcp.connect(String.to_charlist(host), String.to_integer(port), [:binary, active: false, packet: :line])
    {socket, hash}
  end

  def acquire({_, hash} = state) do
    taken = for name <- command(state, ["HKEYS", hash]), {id, ""} <- [Integer.parse(name)], do: id
    id = Enum.find(0..511, &(&1 not in taken))
    token = Base.url_encode64(:crypto.strong_rand_bytes(16), padding: false)
    if write(state, "FNX", 60_000, id, token) == 1, do: {id, token}, else: acquire(state)
  end

  def renew(state, {id, token}), do: 1 = write(state, "FXX", 60_000, id, token)
  def release(state, {id, token}), do: 1 = write(state, "FXX", 0, id, token)

  defp write({_, hash} = state, condition, ms, id, token) do
    fields = ["#{id}", token, "token.#{id}.#{token}", "#{id}"]
    command(state, ["HSETEX", hash, condition, "PX", "#{ms}", "FIELDS", "2" | fields])
  end

  defp command({socket, _}, parts) do
    packed = for part <- parts, do: ["$#{byte_size(part)}\r\n", part, "\r\n"]
    :ok = :gen_tcp.send(socket, ["*#{length(parts)}\r\n", packed])
    reply(socket)
  end

  defp reply(socket) do
    {:ok, line} = :gen_tcp.recv(socket, 0)

    case String.trim_trailing(line) do
      ":" <> number -> String.to_integer(number)
      "*" <> count -> for _ <- List.duplicate(0, String.to_integer(count)), do: reply(socket)
      "$" <> _ -> socket |> :gen_tcp.recv(0) |> elem(1) |> String.trim_trailing()
      "-" <> error -> raise error
    end
  end
end

defmodule Postgres do
  def open([host, port, user, database, schema]) do
    {:ok, socket} = :gen_tcp.connect(String.to_charlist(host), String.to_integer(port), [:binary, active: false])
    parameters = "user\0#{user}\0database\0#{database}\0\0"
    :ok = :gen_tcp.send(socket, [<<byte_size(parameters) + 8::32, 196_608::32>>, parameters])
    rows(socket, [])
    query(socket, "set search_path to #{schema}")
    socket
  end

  def acquire(socket) do
    free = query(socket, "select id, lock_version from no_noncense_leases where expires_at < current_timestamp order by id limit 5")
    Enum.find_value(free, &claim(socket, &1)) || acquire(socket)
  end

  defp claim(socket, row) do
    [id, version] = row
    token = Base.encode16(:crypto.strong_rand_bytes(16))

    updated =
      query(socket, "update no_noncense_leases set token = '\\x#{token}', lock_version = lock_version + 1,
        expires_at = current_timestamp + interval '60 seconds' where id = #{id} and lock_version = #{version} returning 1")

    if updated == [["1"]], do: {String.to_integer(id), token}
  end

  def renew(socket, lease), do: [["1"]] = update(socket, lease, "60 seconds")
  def release(socket, lease), do: [["1"]] = update(socket, lease, "0 seconds")

  defp update(socket, {id, token}, length) do
    query(socket, "update no_noncense_leases set expires_at = current_timestamp + interval '#{length}',
      lock_version = lock_version + 1 where id = #{id} and token = '\\x#{token}' returning 1")
  end

  # The simple query protocol, for a server that asks for no password.
  defp query(socket, sql) do
    :ok = :gen_tcp.send(socket, [?Q, <<byte_size(sql) + 5::32>>, sql, 0])
    rows(socket, [])
  end

  defp rows(socket, found) do
    {:ok, <<type, length::32>>} = :gen_tcp.recv(socket, 5)
    {:ok, body} = if length > 4, do: :gen_tcp.recv(socket, length - 4), else: {:ok, ""}

    case {type, body} do
      {?Z, _} -> Enum.reverse(found)
      {?D, <<_::16, columns::binary>>} -> rows(socket, [columns(columns) | found])
      {?R, <<0::32, _::binary>>} -> rows(socket, found)
      {?R, _} -> raise "the server asks for a password"
      {?E, _} -> raise String.replace(body, "\0", " ")
      _ -> rows(socket, found)
    end
  end

  defp columns(<<>>), do: []
  defp columns(<<length::32, value::binary-size(length), rest::binary>>), do: [value | columns(rest)]
end

defmodule MySql do
  # PROTOCOL_41, CONNECT_WITH_DB, SECURE_CONNECTION, PLUGIN_AUTH
  @capabilities 0x200 + 0x8 + 0x8000 + 0x80000

  # For a user without a password.
  def open([host, port, user, database]) do
    {:ok, socket} = :gen_tcp.connect(String.to_charlist(host), String.to_integer(port), [:binary, active: false])
    packet(socket)
    answer = [<<@capabilities::little-32, 0xFFFFFF::little-32, 45, 0::size(184)>>, user, 0, 0, database, 0, "mysql_native_password", 0]
    send_packet(socket, 1, answer)
    logged_in(socket)
    socket
  end

  defp logged_in(socket) do
    case packet(socket) do
      {_, <<0, _::binary>>} -> :ok
      {number, <<0xFE, _::binary>>} -> send_packet(socket, number + 1, ""); logged_in(socket)
      {_, <<0xFF, _::16, error::binary>>} -> raise error
    end
  end

  def acquire(socket) do
    free = query(socket, "select id, lock_version from no_noncense_leases where expires_at < current_timestamp(6) order by id limit 5")
    Enum.find_value(free, &claim(socket, &1)) || acquire(socket)
  end

  defp claim(socket, [id, version]) do
    token = Base.encode16(:crypto.strong_rand_bytes(16))

    updated =
      query(socket, "update no_noncense_leases set token = X'#{token}', lock_version = lock_version + 1,
        expires_at = current_timestamp(6) + interval 60 second where id = #{id} and lock_version = #{version}")

    if updated == 1, do: {String.to_integer(id), token}
  end

  def renew(socket, lease), do: 1 = update(socket, lease, 60)
  def release(socket, lease), do: 1 = update(socket, lease, 0)

  defp update(socket, {id, token}, seconds) do
    query(socket, "update no_noncense_leases set expires_at = current_timestamp(6) + interval #{seconds} second,
      lock_version = lock_version + 1 where id = #{id} and token = X'#{token}'")
  end

  # The rows of a select, or how many an update changed.
  defp query(socket, sql) do
    send_packet(socket, 0, [3, sql])

    case packet(socket) do
      {_, <<0, changed, _::binary>>} -> changed
      {_, <<0xFF, _::16, error::binary>>} -> raise error
      {_, <<columns>>} -> for(_ <- 0..columns, do: packet(socket)); rows(socket, [])
    end
  end

  defp rows(socket, found) do
    case packet(socket) do
      {_, <<0xFE, _::binary>>} -> Enum.reverse(found)
      {_, row} -> rows(socket, [columns(row) | found])
    end
  end

  defp columns(<<>>), do: []
  defp columns(<<length, value::binary-size(length), rest::binary>>), do: [value | columns(rest)]

  defp send_packet(socket, number, parts) do
    :ok = :gen_tcp.send(socket, [<<IO.iodata_length(parts)::little-24, number>>, parts])
  end

  defp packet(socket) do
    {:ok, <<length::little-24, number>>} = :gen_tcp.recv(socket, 4)
    {:ok, body} = if length > 0, do: :gen_tcp.recv(socket, length), else: {:ok, ""}
    {number, body}
  end
end

{store, address, [nodes, leases]} =
  case System.argv() do
    ["redis" | rest] -> {Redis, Enum.take(rest, 3), Enum.drop(rest, 3)}
    ["postgres" | rest] -> {Postgres, Enum.take(rest, 5), Enum.drop(rest, 5)}
    ["mysql" | rest] -> {MySql, Enum.take(rest, 4), Enum.drop(rest, 4)}
  end

now = fn -> System.os_time(:microsecond) end

run = fn ->
  state = store.open(address)

  for _ <- 1..String.to_integer(leases) do
    {id, _} = lease = store.acquire(state)
    from = now.()
    store.renew(state, lease)
    Process.sleep(:rand.uniform(20))
    until = now.()
    store.release(state, lease)
    IO.puts("#{id} #{from} #{until}")
  end
end

1..String.to_integer(nodes) |> Enum.map(fn _ -> Task.async(run) end) |> Task.await_many(120_000)
