set @mintid_floor = {floor}

insert ignore into {sequence} (v) values (@mintid_floor)

delete from {sequence} where v = @mintid_floor
